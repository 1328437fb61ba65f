# SPDX-License-Identifier: MIT
# What makes the shipped library harder to attack. The flags that a compiler does not know are
# left out, and a debug build has none of them.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)

# rota_harden(target) - how its sources are compiled.
function(rota_harden target)
    if(CMAKE_BUILD_TYPE STREQUAL "Debug")
        return()
    endif()
    foreach(flag IN ITEMS
            -fstack-protector-strong
            -fstack-clash-protection
            -fcf-protection=full
            -ftrivial-auto-var-init=zero
            -fzero-call-used-regs=used-gpr
            -fno-strict-overflow
            -fno-strict-aliasing
            -fno-delete-null-pointer-checks)
        string(MAKE_C_IDENTIFIER "rota_has${flag}" known)
        check_c_compiler_flag(${flag} ${known})
        if(${known})
            target_compile_options(${target} PRIVATE ${flag})
        endif()
    endforeach()
    # Without a type, or with None, it is CMAKE_C_FLAGS that says how to optimise, and with what checks.
    if(NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE" AND NOT CMAKE_BUILD_TYPE MATCHES "^(None)?$")
        target_compile_options(${target} PRIVATE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
    endif()
endfunction()

# rota_link_flags(target flag...) - the linker flags that the linker knows.
function(rota_link_flags target)
    foreach(flag IN LISTS ARGN)
        string(MAKE_C_IDENTIFIER "rota_has${flag}" known)
        check_linker_flag(C ${flag} ${known})
        if(${known})
            target_link_options(${target} PRIVATE ${flag})
        endif()
    endforeach()
endfunction()

# rota_harden_link(target) - how the shared library is linked.
function(rota_harden_link target)
    # Its threads outlive a dlclose: the code has to stay, in every build.
    rota_link_flags(${target} -Wl,-z,nodelete)
    # It calls itself, also in a program that has another copy inside and shows its names.
    rota_link_flags(${target} -Wl,-Bsymbolic)
    if(NOT ROTA_INSTRUMENT) # the sanitizers leave symbols for the program to bring
        rota_link_flags(${target} -Wl,-z,defs)
    endif()
    if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
        rota_link_flags(${target}
            -Wl,-z,relro
            -Wl,-z,now
            -Wl,-z,noexecstack
            -Wl,-z,separate-code
            -Wl,--as-needed)
    endif()
endfunction()

# rota_export_only(target map) - exports what the version script lists, and nothing else.
function(rota_export_only target map)
    rota_link_flags(${target} "-Wl,--version-script=${map}")
endfunction()
