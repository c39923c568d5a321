# The Debian package: `cpack --config build/release/CPackConfig.cmake -B OUT`. The fake
# web is not in it: only tests need it, and they need the source anyway.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gannet)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Gannet maintainers <maintainers@gannet.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "geo-distributed, multi-site, round-based web crawler")
set(CPACK_PACKAGE_DESCRIPTION
"Gannet crawls the web in rounds: it chooses the most important pages that it
knows, fetches them politely, keeps them as WARC files, and learns of new ones
from their links. It is stopped and killed without loss, and needs no other
server.
.
This package has the binary, a hardened systemd service, a timer, rules for
Prometheus and a dashboard for Grafana. It starts nothing by itself: first say
in /etc/gannet/site.yaml whom webmasters can write to.")
# Installs into a staged tree, so that install_site.cmake sees the prefix that the
# files will have on the operator's machine.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION web)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# dpkg-shlibdeps adds the packages of the libraries.
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "ca-certificates, systemd | systemd-standalone-sysusers | systemd-sysusers, systemd | systemd-standalone-tmpfiles | systemd-tmpfiles")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS publicsuffix)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS prometheus)
set(debian ${CMAKE_CURRENT_SOURCE_DIR}/debian)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  "${debian}/conffiles;${debian}/postinst;${debian}/prerm;${debian}/postrm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

install(FILES ${debian}/copyright ${made}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
include(CPack)
