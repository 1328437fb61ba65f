# SPDX-License-Identifier: MIT
# The reference, made of the public headers by tools/reference.py: manual pages, and as HTML.
set(default_man OFF)
if(PROJECT_IS_TOP_LEVEL)
    find_package(Python3 QUIET COMPONENTS Interpreter)
    find_program(ROTA_MANDOC mandoc)
    mark_as_advanced(ROTA_MANDOC)
    if(Python3_FOUND)
        set(default_man ON)
    endif()
endif()
option(ROTA_MAN "Make and install manual pages: needs Python 3" ${default_man})
option(ROTA_HTML "Make and install them as HTML, too: needs Python 3 and mandoc" OFF)
if(ROTA_MAN OR ROTA_HTML)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
if(ROTA_HTML)
    find_program(ROTA_MANDOC mandoc REQUIRED)
endif()

file(GLOB reference_sources CONFIGURE_DEPENDS
    include/rota/*.h tests/conformance/errors.txt tools/reference.py tools/manual/*.*)

# rota_reference(TARGET FORM [ALL]) - a target that makes the FORM, man or html, in a folder of that name.
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

# What was not built is not installed: some build the library alone.
if(ROTA_MAN)
    rota_reference(rota_man man ALL)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
endif()
if(ROTA_HTML)
    rota_reference(html html ALL)
elseif(default_man AND ROTA_MANDOC)
    rota_reference(html html)
endif()
if(TARGET html)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/html/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html OPTIONAL)
endif()
