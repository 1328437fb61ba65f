# SPDX-License-Identifier: MIT
# The reference, made of the public headers by tools/reference.py: manual pages, and as HTML.
find_package(Python3 QUIET COMPONENTS Interpreter)
find_program(ROTA_MANDOC mandoc)
mark_as_advanced(ROTA_MANDOC)

set(default_man OFF)
if(PROJECT_IS_TOP_LEVEL AND Python3_FOUND)
    set(default_man ON)
endif()
option(ROTA_MAN "Make and install manual pages: needs Python 3" ${default_man})
option(ROTA_HTML "Make and install them as HTML, too: needs mandoc" OFF)
if(ROTA_HTML AND NOT ROTA_MANDOC)
    message(FATAL_ERROR "ROTA_HTML needs mandoc")
endif()

file(GLOB reference_sources CONFIGURE_DEPENDS
    include/rota/*.h tests/conformance/errors.txt tools/reference.py tools/manual/*)

# rota_reference(TARGET FORM) - a target that makes the FORM, man or html, in a folder of that name.
function(rota_reference target form)
    set(stamp ${PROJECT_BINARY_DIR}/${form}.stamp)
    add_custom_command(OUTPUT ${stamp}
        COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/reference.py --${form}
            ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/${form}
        COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
        DEPENDS ${reference_sources}
        COMMENT "Writing the reference: ${form}"
        VERBATIM)
    add_custom_target(${target} ${ARGN} DEPENDS ${stamp})
endfunction()

if(ROTA_MAN)
    rota_reference(rota_man man ALL)
    # Who builds the library alone installs none.
    install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
endif()
if(ROTA_HTML)
    rota_reference(html html ALL)
elseif(ROTA_MANDOC AND PROJECT_IS_TOP_LEVEL AND Python3_FOUND)
    rota_reference(html html)
endif()
if(TARGET html)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/html/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html OPTIONAL)
endif()
