#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drives a web server of the examples, which answers GET /12 with 144 and ends with GET /0.

drive_http.py python COMMAND...    with eight connections that ask for one thing after the other, after some that
                                   ask and leave
drive_http.py wrk COMMAND...       with fifty, by wrk, for a second; ends with 77 where that is not installed
"""
import http.client
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def start(command):
    """The server and its port: another one, if somebody was faster to take it."""
    for _ in range(10):
        port = free_port()
        server = subprocess.Popen([*command, str(port)])
        while server.poll() is None:
            if is_open(port):
                return server, port
            time.sleep(0.01)
    sys.exit("the server does not start")


def get(connection, number):
    connection.request("GET", f"/{number}")
    return int(connection.getresponse().read())


def end(port):
    """It may be gone before its answer."""
    try:
        get(http.client.HTTPConnection("127.0.0.1", port, timeout=60), 0)
    except (OSError, http.client.HTTPException):
        pass


def ask(port, wrong):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for number in range(1, 51):
        answer = get(connection, number)
        if answer != number * number:
            wrong.append(f"{number}: {answer}")
    connection.close()


def ask_and_leave(port):
    """Some reset the connection: whoever writes to it is told so by a signal, if they did not see to that."""
    for number in range(200):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(f"GET /{number + 1} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            if number % 2 == 0:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if number % 4 == 0:
                client.shutdown(socket.SHUT_WR)


def with_python(port):
    wrong = []
    ask_and_leave(port)
    threads = [threading.Thread(target=ask, args=(port, wrong)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"  {len(threads) * 50} requests on {len(threads)} connections, {len(wrong)} wrong answers")
    return not wrong


def with_wrk(port):
    done = subprocess.run(["wrk", "-t1", "-c50", "-d1s", "--timeout", "30s", f"http://127.0.0.1:{port}/12"],
                          capture_output=True, text=True, timeout=60)
    print(done.stdout)
    return (done.returncode == 0 and "Requests/sec" in done.stdout and " 0 requests in" not in done.stdout
            and "Socket errors" not in done.stdout and "Non-2xx" not in done.stdout)


def main():
    how, command = sys.argv[1], sys.argv[2:]
    if how == "wrk" and shutil.which("wrk") is None:
        sys.exit(77)
    server, port = start(command)
    try:
        is_right = with_wrk(port) if how == "wrk" else with_python(port)
        end(port)
        sys.exit(0 if server.wait(timeout=60) == 0 and is_right else 1)
    finally:
        server.kill()


main()
