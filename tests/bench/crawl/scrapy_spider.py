"""Scrapy on the racing web: follows all links over N hosts, robots.txt obeyed, no delay.

    /usr/bin/python3 scrapy_spider.py --port 8080 --hosts 20 [--pages 2000]

Every name resolves to 127.0.0.1 (by a resolver of our own); the URLs have the port.
Prints one JSON object.
"""

import argparse
import json
import time

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer


class LoopbackResolver(CachingThreadedResolver):
    def getHostByName(self, name, timeout=None):
        return defer.succeed("127.0.0.1")


class PagesSpider(scrapy.Spider):
    name = "pages"
    links = LinkExtractor()

    def __init__(self, port, hosts, pages):
        super().__init__()
        self.most = pages
        self.fetched = 0
        self.bytes = 0
        self.start_urls = [f"http://h{i}.example:{port}/index.html" for i in range(hosts)]

    def parse(self, response):
        self.fetched += 1
        self.bytes += len(response.body)
        if self.most and self.fetched >= self.most:
            raise scrapy.exceptions.CloseSpider("enough")
        for link in self.links.extract_links(response):
            # Only hosts of the race: other links of the manual lead to the real web.
            if ".example:" in link.url:
                yield scrapy.Request(link.url)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--pages", type=int, default=0, help="stop after so many (0: all)")
    arguments = parser.parse_args()
    process = CrawlerProcess({
        "ROBOTSTXT_OBEY": True,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": 100,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DNS_RESOLVER": LoopbackResolver,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "RETRY_ENABLED": False,
        "COOKIES_ENABLED": False,
        "USER_AGENT": "scrapy-bench",
        "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
    })
    crawler = process.create_crawler(PagesSpider)
    process.crawl(crawler, port=arguments.port, hosts=arguments.hosts, pages=arguments.pages)
    start = time.monotonic()
    process.start()
    seconds = time.monotonic() - start
    print(json.dumps({"pages": crawler.spider.fetched, "bytes": crawler.spider.bytes,
                      "seconds": round(seconds, 3),
                      "pages_per_second": round(crawler.spider.fetched / seconds)}))


if __name__ == "__main__":
    main()
