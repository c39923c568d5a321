# The part of `cmake --install` that depends on the prefix: units name the binary
# and the configuration by their whole paths. Under /usr and /usr/local the
# configuration is in /etc, where people look for it; otherwise it is below the
# prefix. An existing configuration is left alone.
if(CMAKE_INSTALL_PREFIX MATCHES "^/usr(/local)?/?$")
  set(etc /etc)
else()
  set(etc ${CMAKE_INSTALL_PREFIX}/etc)
endif()
foreach(unit gannet.service gannet@.service gannet-round.service gannet-round.timer)
  file(READ ${units}/${unit} text)
  string(REPLACE "/usr/bin/gannet" "${CMAKE_INSTALL_PREFIX}/bin/gannet" text "${text}")
  string(REPLACE "/etc/gannet" "${etc}/gannet" text "${text}")
  file(WRITE ${made}/units/${unit} "${text}")
  file(INSTALL ${made}/units/${unit} DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/system)
endforeach()
if(NOT EXISTS $ENV{DESTDIR}${etc}/gannet/site.yaml)
  file(INSTALL ${made}/site.yaml DESTINATION ${etc}/gannet)
endif()
