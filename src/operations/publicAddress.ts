/** Tells addresses of the public internet from special ones, by the IANA registries of special-purpose addresses. */
import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

/** IPv4 blocks that are not reachable for everyone, or that lead into the local network or host. */
const SPECIAL_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // Looks like a public address, but inside Azure it is the host of the virtual machine.
  "168.63.129.16/32"
].map(IpNetwork.fromStringUnsafe)

/**
 * The only IPv6 block with global unicast addresses. NAT64, unique local, link-local and multicast addresses lie
 * outside it.
 */
const GLOBAL_V6 = IpNetwork.fromStringUnsafe("2000::/3")

/** Parts of that block that are no hosts: protocol assignments including Teredo, documentation, 6to4. */
const SPECIAL_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"].map(IpNetwork.fromStringUnsafe)

const isWithin = (blocks: ReadonlyArray<IpNetwork.IpNetwork>, address: NetAddress.IpAddress): boolean =>
  blocks.some((block) => IpNetwork.contains(block, address))

/** True for a unicast address of the public internet. An IPv4-mapped IPv6 address counts as the IPv4 address. */
export const isPublicIp = (address: NetAddress.IpAddress): boolean => {
  const canonical = NetAddress.toCanonical(address)
  return NetAddress.isIpv4Address(canonical)
    ? !isWithin(SPECIAL_V4, canonical)
    : IpNetwork.contains(GLOBAL_V6, canonical) && !isWithin(SPECIAL_V6, canonical)
}

/** The address in a URL's host; null when the host is a name. */
export const literalOf = (hostname: string): NetAddress.IpAddress | null =>
  Result.getOrElse(NetAddress.ipFromString(hostname.replace(/^\[(?<inner>.*)\]$/u, "$<inner>")), () => null)
