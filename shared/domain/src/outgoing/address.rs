//! Tells public IP addresses from others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 networks that are not public, from IANA's registry of special addresses.
const SPECIAL_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // shared by the customers of a provider
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local, with the metadata of cloud providers
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocols
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // 6to4 relays
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, and broadcast
];

/// The only IPv6 network with public addresses (2000::/3). Loopback, local, mapped and translated (NAT64) addresses are outside
/// it.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Networks within [`GLOBAL_V6`] that are not public.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocols, with Teredo, whose addresses embed IPv4 addresses
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4, whose addresses embed IPv4 addresses
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// Whether the address is in the public internet. An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) counts as the IPv4 address.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|(network, bits)| is_in_v4(address, *network, *bits)),
        IpAddr::V6(address) => {
            is_in_v6(address, GLOBAL_V6.0, GLOBAL_V6.1)
                && !SPECIAL_V6.iter().any(|(network, bits)| is_in_v6(address, *network, *bits))
        }
    }
}

/// Whether the address is in the public internet or a loopback address.
pub fn is_public_or_loopback(address: IpAddr) -> bool {
    is_public(address) || address.to_canonical().is_loopback()
}

fn is_in_v4(address: Ipv4Addr, network: Ipv4Addr, bits: u32) -> bool {
    (address.to_bits() ^ network.to_bits()) >> (32 - bits) == 0
}

fn is_in_v6(address: Ipv6Addr, network: Ipv6Addr, bits: u32) -> bool {
    (address.to_bits() ^ network.to_bits()) >> (128 - bits) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_are(expected: bool, addresses: &str) {
        for address in addresses.split_whitespace() {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn special_ipv4_networks_are_not_public_from_their_first_to_their_last_address() {
        all_are(
            false,
            "0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.0.0.1
             127.255.255.255 169.254.0.0 169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0
             192.0.0.255 192.0.2.0 192.0.2.255 192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255
             198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0
             239.255.255.255 240.0.0.0 255.255.255.255",
        );
    }

    #[test]
    fn the_neighbours_of_special_ipv4_networks_are_public() {
        all_are(
            true,
            "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
             169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255
             192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
             198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 8.8.8.8",
        );
    }

    #[test]
    fn ipv6_addresses_are_public_only_where_addresses_of_hosts_are_given_out() {
        all_are(
            true,
            "2000:: 2001:200:: 2001:db7:ffff:: 2001:db9:: 2003:: 2606:4700::1111 3ffe:ffff:: 3fff:1000::",
        );
        all_are(
            false,
            ":: ::1 ::2 100:: 1fff:ffff:: 2001:: 2001::1 2001:1ff:ffff:: 2001:db8:: 2001:db8:ffff:: 2002::
             2002:808:808:: 2002:ffff:: 3fff:: 3fff:fff:: 4000:: 5f00:: 64:ff9b:: 64:ff9b::808:808
             64:ff9b:1:: 64:ff9b:1:ffff:: fc00:: fd00:ec2::254 fdff:: fe80:: fe80::1 febf:: fec0:: ff00::
             ff02::1 ffff::",
        );
    }

    #[test]
    fn ipv4_addresses_in_the_notation_of_ipv6_are_what_they_stand_for() {
        all_are(true, "::ffff:8.8.8.8 ::ffff:808:808");
        all_are(
            false,
            "::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:0 ::127.0.0.1
             ::8.8.8.8 ::ffff:0:7f00:1",
        );
    }
}
