# find_package(picollo) gives the targets picollo::picollo, the shared library, and picollo::static.
# Everything is found relative to this file, so that an installed tree may be moved.

get_filename_component(_picollo_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_path(_picollo_include picollo.h PATHS "${_picollo_prefix}/include" NO_DEFAULT_PATH)

# Debian's libraries are a directory deeper.
file(GLOB _picollo_libdirs "${_picollo_prefix}/lib/*-linux-gnu*")
set(_picollo_libdirs "${_picollo_prefix}/lib" "${_picollo_prefix}/lib64" ${_picollo_libdirs})
find_library(_picollo_shared NAMES picollo PATHS ${_picollo_libdirs} NO_DEFAULT_PATH)
find_file(_picollo_archive NAMES libpicollo.a PATHS ${_picollo_libdirs} NO_DEFAULT_PATH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(picollo REQUIRED_VARS _picollo_shared _picollo_include)

if(picollo_FOUND AND NOT TARGET picollo::picollo)
  add_library(picollo::picollo SHARED IMPORTED)
  set_target_properties(picollo::picollo PROPERTIES
    IMPORTED_LOCATION "${_picollo_shared}"
    IMPORTED_SONAME "libpicollo.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_picollo_include}")
endif()

if(picollo_FOUND AND _picollo_archive AND NOT TARGET picollo::static)
  add_library(picollo::static STATIC IMPORTED)
  set_target_properties(picollo::static PROPERTIES
    IMPORTED_LOCATION "${_picollo_archive}"
    INTERFACE_INCLUDE_DIRECTORIES "${_picollo_include}"
    INTERFACE_LINK_LIBRARIES "pthread;m;dl")
endif()
mark_as_advanced(_picollo_include _picollo_shared _picollo_archive)
