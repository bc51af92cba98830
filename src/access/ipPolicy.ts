/** Address policy of keys: CIDR blocks against the address of a caller. */
import { Option, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

const PREFIX_LENGTH = /^(?:0|[1-9]\d{0,2})$/u
const MAPPED_BITS = 96

const addressOf = (text: string): Option.Option<NetAddress.IpAddress> =>
  // A link-local peer comes with the name of the local interface, which is no part of its identity.
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

/** The block as it is stored: CIDR with the host bits cleared. An address alone is a block of one. None when it is neither. */
export const canonicalBlock = (text: string): Option.Option<string> => Option.map(networkOf(text), IpNetwork.format)

/**
 * True when a key of that policy may be used from the address. No policy allows every address. Under a policy, what
 * cannot be read, block or address, allows nothing. IPv4 and its IPv6-mapped form are the same address.
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
