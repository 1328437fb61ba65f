# SPDX-License-Identifier: MIT
# Turns ROTA_INSTRUMENT into flags for everything that is built: library, tests and examples.

if(ROTA_INSTRUMENT STREQUAL "address")
    set(instrument -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(ROTA_INSTRUMENT STREQUAL "thread")
    set(instrument -fsanitize=thread)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        add_compile_options(-Werror=tsan) # fences, which the checker does not follow
    endif()
elseif(ROTA_INSTRUMENT STREQUAL "memory")
    set(instrument -fsanitize=memory -fsanitize-memory-track-origins -fno-sanitize-recover=all)
elseif(ROTA_INSTRUMENT STREQUAL "coverage")
    set(instrument --coverage)
    add_compile_options(-O0 -fprofile-update=atomic)
    add_compile_definitions(ROTA_COVERAGE=1)
elseif(ROTA_INSTRUMENT)
    message(FATAL_ERROR "ROTA_INSTRUMENT is '${ROTA_INSTRUMENT}': "
        "it must be empty, address, thread, memory or coverage")
endif()

if(CMAKE_C_COMPILER_ID STREQUAL "Clang" AND ROTA_INSTRUMENT MATCHES "address|thread|memory")
    string(TOUPPER ${ROTA_INSTRUMENT} sanitizer)
    add_compile_definitions(__SANITIZE_${sanitizer}__=1) # as gcc tells, for the tests
endif()
if(ROTA_INSTRUMENT)
    add_compile_options(${instrument})
    add_link_options(${instrument})
endif()
if(ROTA_INSTRUMENT MATCHES "address|thread|memory")
    add_compile_options(-O1 -fno-omit-frame-pointer)
endif()
