// A coroutine of Asio, declared without its headers: who awaits one includes core/asio.h in a .cc.
#pragma once

namespace boost::asio {
class any_io_executor;
class io_context;
template <typename T, typename Executor>
class awaitable;
}  // namespace boost::asio

namespace subako::core {

template <class T>
using Task = boost::asio::awaitable<T, boost::asio::any_io_executor>;

}  // namespace subako::core
