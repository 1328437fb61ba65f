# SPDX-License-Identifier: MIT
# rota_warnings(target) - the warnings that all code of the project is written under.

function(rota_warnings target)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
        return()
    endif()
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic
        -Wshadow -Wconversion -Wsign-conversion
        -Wcast-qual -Wvla -Wformat=2 -Wimplicit-fallthrough -Wundef
        "$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes;-Werror=implicit-function-declaration>"
        $<$<BOOL:${ROTA_WERROR}>:-Werror>)
endfunction()
