# SPDX-License-Identifier: MIT
# The target `amalgamation` writes rota.c and rota.h, made of all sources. With ROTA_AMALGAMATED the libraries
# are built of these, so that all tests see what a user drops into a project.
if(ROTA_AMALGAMATED)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
elseif(PROJECT_IS_TOP_LEVEL)
    find_package(Python3 QUIET COMPONENTS Interpreter)
endif()
if(NOT Python3_FOUND)
    return()
endif()

set(amalgamation ${PROJECT_BINARY_DIR}/amalgamation)
file(GLOB amalgamated CONFIGURE_DEPENDS include/rota/*.h src/*/*.[ch])
add_custom_command(OUTPUT ${amalgamation}/rota.c ${amalgamation}/rota.h
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/amalgamate.py ${amalgamation}
    DEPENDS ${amalgamated} tools/amalgamate.py tools/sources.py src/LAYERS CMakeLists.txt LICENSE
    COMMENT "Writing amalgamation/rota.c and rota.h"
    VERBATIM)
add_custom_target(amalgamation DEPENDS ${amalgamation}/rota.c ${amalgamation}/rota.h)

if(ROTA_AMALGAMATED)
    set(rota_sources ${amalgamation}/rota.c)
    # Optimised also where the tests are not: it is the optimiser that sees more in one file than in many.
    set_source_files_properties(${rota_sources} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Debug>:-O2>)
    if(ROTA_OS STREQUAL "posix")
        set_source_files_properties(${rota_sources} PROPERTIES COMPILE_DEFINITIONS ROTA_OS_POSIX=1)
    endif()
endif()
