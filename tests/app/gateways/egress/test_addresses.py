import ipaddress

import pytest

from app.kit.addresses import is_metadata, is_public, port_allowed, read_url
from app.kit.errors import EndpointRefused
from tests.support.cases import cases

PUBLIC = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.254 100.128.0.1 126.255.255.255 128.0.0.1
169.253.255.255 169.255.0.1 172.15.255.255 172.32.0.1 191.255.255.255 192.0.1.1 192.0.3.1
192.88.98.1 192.88.100.1 192.167.255.255 192.169.0.1 198.17.255.255 198.20.0.1 198.51.99.1
198.51.101.1 203.0.112.1 203.0.114.1 223.255.255.255 168.63.129.15 168.63.129.17
2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4001:80b::200e 2001:200::1 2003::1
2620:4f:7fff::1 3ffe:ffff::1
"""
NOT_PUBLIC = """
0.0.0.0 0.1.2.3 0.255.255.255 10.0.0.0 10.0.0.1 10.255.255.255 100.64.0.0 100.64.0.1
100.127.255.255 127.0.0.0 127.0.0.1 127.1.2.3 127.255.255.255 172.16.0.1 172.31.255.255
192.0.0.0 192.0.0.8 192.0.0.170 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1
192.168.255.255 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.255 224.0.0.1
239.255.255.255 240.0.0.1 255.255.255.254 255.255.255.255
:: ::1 ::2 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:10.0.0.1 ::127.0.0.1 ::8.8.8.8
::ffff:0:127.0.0.1 100::1 100:0:0:1::1 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1 64:ff9c::1
2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:1ff::1
2001:db8::1 2001:db8:ffff::1 2002::1 2002:7f00:1:: 2002:808:808::1 2620:4f:8000::1 3fff::1
3fff:fff:ffff::1 4000::1 5f00::1 fc00::1 fdff::1 fec0::1 ff02::1 ff0e::1
2606:4700::5efe:8.8.8.8 2606:4700::200:5efe:127.0.0.1 2a00:1450::5efe:10.0.0.1
"""
METADATA = """
169.254.169.254 169.254.170.2 169.254.170.23 169.254.42.42 169.254.0.1 168.63.129.16
100.100.100.200 192.0.0.192 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42 fe80::1 febf::1
fe80::1%eth0 fd00:ec2::254%1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::169.254.169.254
::ffff:0:169.254.169.254 ::ffff:168.63.129.16 2002:a9fe:a9fe::1 2002:6464:64c8::1
64:ff9b::a9fe:a9fe 64:ff9b:1:a9fe:a9:fe00:: 64:ff9b:1:0:a9:fea9:fe00:0 64:ff9b:1::a9fe:a9fe
2001:0:0:0:0:0:5601:5601 2606:4700::5efe:169.254.169.254 2606:4700::200:5efe:a9fe:a9fe
"""


@cases("text", PUBLIC.split())
def test_public_addresses(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@cases("text", NOT_PUBLIC.split())
def test_special_addresses_are_not_public_and_no_metadata(text: str) -> None:
    address = ipaddress.ip_address(text)
    assert not is_public(address)
    assert not is_metadata(address)


@cases("text", METADATA.split())
def test_metadata_in_every_spelling(text: str) -> None:
    address = ipaddress.ip_address(text)
    assert is_metadata(address)
    assert not is_public(address)


CONFUSING = [
    "",
    "https://",
    "https:///path",
    "http:\\\\host",
    "https://host\\@evil.example/",
    "file:///etc/passwd",
    "ftp://host/",
    "javascript:alert(1)",
    "https://user:pass@host/",
    "http://good@127.0.0.1/",
    "https://good.example #@evil.example/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://0/",
    "https://127.0.0.1./",
    "https://127.0.0.01/",
    "https://１２７.0.0.1/",  # fullwidth digits
    "https://ⓔxample.com/",
    "https://::1/",
    "https://[fe80::1%25eth0]/",
    "https://host:0/",
    "https://host:65536/",
    "https://host:99999999999999999999/",
    "https://host:/",
    "https://ho st/",
    "https://host/\r\nX: y",
    "https://host/\x00",
    " https://host/",
    "https://-host/",
    "https://*/",
    "https://%31%32%37.0.0.1/",
    "https://" + "a" * 64 + ".example/",
    "https://" + "a." * 130 + "example/",
    "https://host/" + "a" * 2048,
]


@cases("url", CONFUSING)
def test_urls_that_parsers_could_read_differently_are_refused(url: str) -> None:
    with pytest.raises(EndpointRefused):
        read_url(url)


def test_plain_urls_are_read() -> None:
    endpoint = read_url("HTTPS://Tools.Example.:8443/a/b?c=%20d#frag")
    assert (endpoint.scheme, endpoint.host, endpoint.port) == ("https", "tools.example", 8443)
    assert endpoint.url == "https://tools.example:8443/a/b?c=%20d"
    assert endpoint.key == "tools.example:8443"
    assert read_url("https://xn--bcher-kva.example").url == "https://xn--bcher-kva.example:443/"
    assert read_url("https://a.example?q=1").url == "https://a.example:443/?q=1"
    literal = read_url("http://[0:0::1]:9001/x")
    assert (str(literal.address), literal.key) == ("::1", "[::1]:9001")
    assert str(read_url("https://93.184.216.34/").address) == "93.184.216.34"


def test_ports_of_databases_and_low_ports_are_refused() -> None:
    assert [
        p
        for p in (22, 25, 80, 81, 443, 1023, 1024, 5432, 6379, 8080, 11211, 65535)
        if port_allowed(p)
    ] == [80, 443, 1024, 8080, 65535]
