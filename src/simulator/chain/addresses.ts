/** Addresses on the simulated chain: the well-known ones of mainnet, and others derived from a seed. */
import { createHash, createPrivateKey, createPublicKey } from "node:crypto"
import { Address, addressFromBytes, addressToBytes } from "../../domain/Address.ts"

export const SYSTEM_PROGRAM = Address.make("11111111111111111111111111111111")
export const UPGRADEABLE_LOADER = Address.make("BPFLoaderUpgradeab1e11111111111111111111111")
export const SYSVAR_OWNER = Address.make("Sysvar1111111111111111111111111111111111111")
export const CLOCK_SYSVAR = Address.make("SysvarC1ock11111111111111111111111111111111")

/** 32 bytes derived from the seed and the label. */
export const inventBytes = (seed: string, label: string): Uint8Array =>
  createHash("sha256").update(`fathom-simulator:${seed}:${label}`).digest()

/** The address of an account that nobody signs for, such as a mint, pool or vault. */
export const inventAddress = (seed: string, label: string): Address => addressFromBytes(inventBytes(seed, label))

// Start of an ed25519 key in PKCS #8 (RFC 8410). The 32 secret bytes follow.
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex")

/**
 * A wallet's address: the public key of a secret derived from the label. It is a curve point, as on the real chain.
 */
export const inventWallet = (seed: string, label: string): Address => {
  const secret = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, inventBytes(seed, label)]),
    format: "der",
    type: "pkcs8"
  })
  return addressFromBytes(createPublicKey(secret).export({ format: "der", type: "spki" }).subarray(-32))
}

/** The address that the system program derives from a base key, a seed and an owner. */
export const seededAddress = (base: Address, seed: string, owner: Address): Address =>
  addressFromBytes(
    createHash("sha256").update(addressToBytes(base)).update(seed).update(addressToBytes(owner)).digest()
  )
