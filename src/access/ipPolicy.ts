/** Address policy of keys: compares a caller's address with CIDR blocks. */
import { Option, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

const PREFIX_LENGTH = /^(?:0|[1-9]\d{0,2})$/u
const MAPPED_BITS = 96

const addressOf = (text: string): Option.Option<NetAddress.IpAddress> =>
  // The address of a link-local peer ends with the name of the local interface, which does not identify the peer.
  Option.map(Result.getSuccess(NetAddress.ipFromString(text.split("%", 1)[0] ?? "")), (ip) =>
    NetAddress.toCanonical(ip)
  )

const networkOf = (text: string): Option.Option<IpNetwork.IpNetwork> => {
  const [ip = "", length, ...rest] = text.split("/")
  if (rest.length > 0 || (length !== undefined && !PREFIX_LENGTH.test(length))) {
    return Option.none()
  }
  return Option.flatMap(Result.getSuccess(NetAddress.ipFromString(ip)), (address) => {
    const bits = length === undefined ? NetAddress.width(address) : Number(length)
    const canonical = NetAddress.toCanonical(address)
    // A block of IPv4-mapped addresses is the IPv4 block; a shorter prefix reaches beyond the mapped range and stays IPv6.
    return Result.getSuccess(
      canonical !== address && bits >= MAPPED_BITS
        ? IpNetwork.fromAddress(canonical, bits - MAPPED_BITS)
        : IpNetwork.fromAddress(address, bits)
    )
  })
}

/**
 * Returns a block as it is stored: CIDR with the host bits cleared. A single address is a block of one. None when the
 * text is neither.
 */
export const canonicalBlock = (text: string): Option.Option<string> => Option.map(networkOf(text), IpNetwork.format)

/**
 * True when a key with this policy may be used from the address. Without a policy, every address may use it. Under a
 * policy, a block or address that cannot be read allows nothing. An IPv4 address and its IPv6-mapped form are the same
 * address.
 */
export const ipAllowed = (policy: ReadonlyArray<string> | null, address: string | null): boolean => {
  if (policy === null) {
    return true
  }
  const from = addressOf(address ?? "")
  return (
    Option.isSome(from) &&
    policy.some((block) => Option.exists(networkOf(block), (network) => IpNetwork.contains(network, from.value)))
  )
}
