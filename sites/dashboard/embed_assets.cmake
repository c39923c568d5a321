# Writes assets.cc: cmake -DOUT=assets.cc -DASSETS=a.html,b.js -P embed_assets.cmake
# Bytes are written as numbers, because a string literal may not be that long.
string(REPLACE "," ";" ASSETS "${ASSETS}")
set(types_html "text/html; charset=utf-8")
set(types_css "text/css; charset=utf-8")
set(types_js "text/javascript; charset=utf-8")
set(types_svg "image/svg+xml")

set(arrays "")
set(rows "")
set(number 0)
foreach(file ${ASSETS})
  cmake_path(GET file FILENAME name)
  cmake_path(GET file EXTENSION LAST_ONLY extension)
  string(SUBSTRING "${extension}" 1 -1 extension)
  if(NOT DEFINED types_${extension})
    message(FATAL_ERROR "${file}: no content type is known for .${extension}")
  endif()
  set(path "/${name}")
  if(name STREQUAL "index.html")
    set(path "/")
  endif()
  file(READ ${file} hex HEX)
  file(SHA256 ${file} hash)
  string(SUBSTRING ${hash} 0 16 etag)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  # Line breaks, because editors and compilers are slow with one long line.
  string(REGEX REPLACE "(('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',))" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "constexpr char kBytes${number}[] = {${bytes}};\n")
  string(APPEND rows
    "    {\"${path}\", \"${types_${extension}}\", {kBytes${number}, sizeof(kBytes${number})}, \"\\\"${etag}\\\"\"},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "// Made by embed_assets.cmake.
#include \"sites/dashboard/assets.h\"

namespace gannet::sites {
namespace {

${arrays}
constexpr Asset kAssets[] = {
${rows}};

}  // namespace

absl::Span<const Asset> Assets() { return kAssets; }

}  // namespace gannet::sites
")
