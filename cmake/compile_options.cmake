# One set of flags for every room. SUBAKO_SANITIZE turns on ASan and UBSan.
option(SUBAKO_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(SUBAKO_WERROR "Warnings are errors; the presets set it" OFF)

set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1 -D_GLIBCXX_ASSERTIONS")

add_library(subako_options INTERFACE)
target_compile_options(subako_options INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-restrict  # g++ 12 sees overlaps in std::string that are none (GCC bug 105651),
  -Wno-mismatched-new-delete  # and coroutine frames freed by another hand than made them (GCC bug 109224)
  -fstack-protector-strong -fno-plt)
if(SUBAKO_WERROR)
  target_compile_options(subako_options INTERFACE -Werror)
endif()
if(SUBAKO_SANITIZE)
  target_compile_options(subako_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(subako_options INTERFACE -fsanitize=address,undefined)
else()
  target_compile_definitions(subako_options INTERFACE $<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>)
endif()
target_link_options(subako_options INTERFACE -Wl,-z,relro,-z,now -Wl,--build-id=sha1)
target_compile_definitions(subako_options INTERFACE SUBAKO_VERSION="${PROJECT_VERSION}")
