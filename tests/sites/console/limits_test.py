"""Each limit of fetching (DESIGN, section 6) and what the operator sees of it."""

import gzip
import socket
import ssl
import subprocess
import threading
import time

import console
from small_web import SmallWebTest, drip, page


class Limits(SmallWebTest):
    def test_bytes_on_the_wire(self):
        server = self.serve({"/fits": page("x" * 5000), "/large": page("x" * 5001)})
        self.crawl(server, ["/fits", "/large"], ", max_bytes: 5000")
        self.assertEqual(self.reason("/fits"), ("fetched", ""))
        self.assertEqual(self.reason("/large"), ("failed", "too_large: the page is too large"))

    def test_bytes_after_decompression(self):
        coded = "Content-Encoding: gzip\r\n"
        server = self.serve({"/fits": page(gzip.compress(b"x" * 50_000), coded),
                             "/bomb": page(gzip.compress(b"x" * 50_001), coded)})
        self.crawl(server, ["/fits", "/bomb"], ", max_decoded_bytes: 50000")
        self.assertEqual(self.reason("/fits"), ("fetched", ""))
        self.assertEqual(self.reason("/bomb"), ("failed", "too large when decoded"))

    def test_header_size(self):
        server = self.serve({"/fits": page("x", "X: " + "y" * 1500 + "\r\n"),
                             "/large": page("x", "X: " + "y" * 2100 + "\r\n")})
        self.crawl(server, ["/fits", "/large"], ", max_header_bytes: 2KiB")
        self.assertEqual(self.reason("/fits"), ("fetched", ""))
        self.assertEqual(self.reason("/large"), 
                         ("failed", "headers_too_large: the answer's headers are too large"))

    def test_a_header_line_that_libcurl_refuses(self):
        # More than 100 KiB, for which libcurl says "out of memory", although memory is not short.
        large = page("x", "X: " + "y" * (110 << 10) + "\r\n")
        server = self.serve({"/fits": page("x"), "/large": large})
        self.crawl(server, ["/fits", "/large"])
        self.assertEqual(self.reason("/fits"), ("fetched", ""))
        self.assertEqual(self.reason("/large"),
                         ("failed", "headers_too_large: the answer's headers are too large"))
        self.assertEqual(server.asked.count("/large"), 1)
        server = self.serve({"/robots.txt": large, "/": page("x")})
        self.crawl(server, ["/"], host="b.example")
        self.assertEqual(self.reason("/", host="b.example"),
                         ("failed", "headers_too_large: the answer's headers are too large"))
        self.assertEqual(set(server.asked), {"/robots.txt"})
        self.assertLess(len(server.asked), 5)

    def test_time_to_the_first_byte(self):
        server = self.serve({"/late": drip(1, 1, head_after=20)})
        self.crawl(server, ["/late"], ", first_byte_timeout: 500ms, min_speed: 0")
        self.assertEqual(self.reason("/late"), ("failed", "first_byte: no answer came in time"))

    def test_time_in_all(self):
        server = self.serve({"/long": drip(1000, 0.1)})
        self.crawl(server, ["/long"], ", timeout: 1500ms, min_speed: 0")
        self.assertEqual(self.reason("/long"), ("failed", "timeout: the page took too long"))

    def test_minimum_speed(self):
        server = self.serve({"/slow": drip(10, 0.5)})
        self.crawl(server, ["/slow"], ", min_speed: 1000, min_speed_time: 1s")
        self.assertEqual(self.reason("/slow"), ("failed", "too_slow: the server sends too slowly"))

    def test_redirects_in_a_row(self):
        def move(to):
            return page("", f"Location: {to}\r\n", "302 Found")
        server = self.serve({f"/{i}": move(f"/{i + 1}") for i in range(9)})
        self.crawl(server, ["/0"], ", redirects: 3")
        self.assertEqual([self.reason(f"/{i}")[0] for i in range(3)], ["moved"] * 3)
        self.assertEqual(self.reason("/3"), ("failed", "too many redirects in a row"))
        self.assertNotIn("/4", server.asked)

    def test_limits_of_urls(self):
        links = {"/ok": True, "/" + "x" * 200: False, "/1/2/3/4/5": False,
                 "/r/r/r/r": False, "/q?a=1&b=2&c=3": False, "/q?a=1": True,
                 "/q?a=" + "1" * 80: False}
        server = self.serve({"/": page("".join(f"<a href='{link}'>" for link in links))})
        self.crawl(server, ["/"], more="urls: {max_bytes: 150, max_path_depth: 4, "
                   "max_segment_repeats: 2, max_query_parameters: 2, max_query_bytes: 50}")
        self.assertEqual(set(self.known()), {"http://a.example/"} | {
            "http://a.example" + link for link, taken in links.items() if taken})

    def test_pages_per_host_in_all(self):
        server = self.serve({"/": page("".join(f"<a href=/{i}>" for i in range(20)))})
        self.crawl(server, ["/"], more="urls: {max_pages_per_host: 7}")
        self.assertEqual(len(self.known()), 7)
        self.assertTrue(self.gannet("verify", "--full", "--json", "--data", "site").json["ok"])

    def test_pages_per_host_in_all_hold_for_deferred_urls_too(self):
        server = self.serve({"/": page("".join(f"<a href=/{i}>" for i in range(20)))})
        done = self.crawl(server, ["/"], more="urls: {max_pages_per_host: 7}\n"
                                              "update: {new_pages: 2}")
        self.assertEqual(len(self.known()), 7)
        self.assertEqual(done["deferred"], 0)
        self.assertTrue(self.gannet("verify", "--full", "--json", "--data", "site").json["ok"])

    def test_pages_per_host_and_round(self):
        server = self.serve({"/": page("".join(f"<a href=/{i}>" for i in range(9)))})
        self.crawl(server, ["/"], flags=("--per-host", "4", "--rounds", "2"))
        self.assertEqual(len([path for path in server.asked if path != "/robots.txt"]), 1 + 4)

    def test_time_of_a_round(self):
        def slowly(connection):
            time.sleep(0.3)
            page("x")(connection)
        server = self.serve({f"/{i}": slowly for i in range(20)})
        done = self.crawl(server, [f"/{i}" for i in range(20)], more="crawl: {time_limit: 2s}",
                          flags=("--rounds", "1"))
        self.assertGreater(done["fetched"], 0)
        self.assertGreater(done["released"], 0)
        self.assertEqual(done["fetched"] + done["released"], 20)
        self.assertLess(done["seconds"], 6)
        self.assertEqual(done["frontier"], done["released"])

    def test_bandwidth(self):
        server = self.serve({f"/{i}": page("x" * 50_000) for i in range(8)})
        begun = time.monotonic()
        self.crawl(server, [f"/{i}" for i in range(8)], ", bandwidth: 200000")
        # The limit delays the requests after an answer, so the last answer delays nothing.
        self.assertGreater(time.monotonic() - begun, 7 * 50_000 / 200_000)

    def test_connections(self):
        lock, now, most = threading.Lock(), 0, 0

        def slowly(connection):
            nonlocal now, most
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.1)
            with lock:
                now -= 1
            page("x")(connection)
        server = self.serve({"/": slowly})
        self.write("seeds.txt", "".join(f"http://h{i}.example/\n" for i in range(30)))
        self.configure(server, ", connections: 3")
        self.gannet("inject", "seeds.txt", "--data", "site")
        done = self.gannet("round", "--json", "--quiet", "--data", "site", "--wait", "0").json
        self.assertEqual(done["fetched"], 30)
        self.assertEqual(most, 3)

    def test_a_certificate_of_an_unknown_authority(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=a.example", "-keyout", "key.pem", "-out", "cert.pem"],
                       cwd=self.folder, check=True, capture_output=True, timeout=60)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "cert.pem", self.folder / "key.pem")
        server = self.serve({"/": page("x")}, context=context)
        for http2 in ("false", "true"):
            with self.subTest(http2=http2):
                host = f"h2-{http2}.example"
                self.crawl(server, ["/"], f", http2: {http2}", scheme="https", host=host)
                state, reason = self.reason("/", scheme="https", host=host)
                self.assertEqual(state, "failed")
                self.assertRegex(reason, "^tls_self_signed: .*certificate")
                self.assertEqual(server.asked, [])

    def test_no_server_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.write("site/site.yaml", f'fetch: {{delay: 1ms, retries: 0, connect_to: '
                                     f'"127.0.0.1:{port}"}}\narchive: {{min_free: 0}}\n')
        self.gannet("crawl", "http://a.example/", "--data", "site", "--quiet", "--wait", "0")
        state, reason = self.reason("/")
        self.assertEqual(state, "failed")
        self.assertRegex(reason, f"^connect_refused: .*{port}")


console.main()
