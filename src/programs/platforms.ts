/**
 * Platforms that launch tokens on a launchpad's program that others use too. A platform is known by the config account
 * of its curves or by the wallet that signs its launches. Anyone may open a curve with a public config, so a platform by
 * config means that the token trades on the platform's terms.
 *
 * Each address is named by at least two public sources, among them DefiLlama's adapters (Bags, Believe, Jup Studio,
 * LetsBonk), the platforms' own SDKs (Bags, LetsBonk) and lists of trading terminals.
 */
import { Address } from "../domain/Address.ts"

const addressed = (...pairs: ReadonlyArray<readonly [platform: string, address: string]>) =>
  new Map(pairs.map(([platform, address]) => [Address.make(address), platform] as const))

/** Platforms by the config of a Meteora DBC curve, or by the platform config of a LaunchLab curve. */
const platformOfConfig: ReadonlyMap<Address, string> = addressed(
  ["letsbonk", "FfYek5vEz23cMkWsdJwG2oa6EphsvXSHrGpdALN4g6W1"],
  ["letsbonk", "BuM6KDpWiTcxvrpXywWFiw45R2RNH8WURdvqoTDV1BW4"],
  ["letsbonk", "82NMHVCKwehXgbXMyzL41mvv3sdkypaMCtTxvJ4CtTzm"],
  ["raydium", "4Bu96XjU84XjPDSpveTVf6LYGCkfW5FK7SNkREWcEfV4"],
  ["stonkfun", "6BwHHDg3u1854jC8PDLXvR4spTcLNaoBxLJNGC4nTESt"],
  ["stonkfun", "4E876qZTE9FJMrBzgVtBrSrzz2TLivB5Y5QXPjB4gZL7"],
  ["moonshot", "FbKf76ucsQssF7XZBuzScdJfugtsSKwZFYztKsMEhWZM"],
  ["trends", "7UNpFBfTdWrcfS7aBQzEaPgZCfPJe8BDgHzwmWUZaMaF"]
)

/** Platforms by a wallet that signs the transaction of the launch. */
const platformOfSigner: ReadonlyMap<Address, string> = addressed(
  ["bags", "BAGSB9TpGrZxQbEsrEznv5jXXdwyP6AXerN8aVRiAmcv"],
  ["believe", "5qWya6UjwWnGVhdSBL3hyZ7B45jbk6Byt1hwd7ohEGXE"],
  ["jup-studio", "8rE9CtCjwhSmbwL5fbJBtRFsS3ohfMcDFeTTC7t4ciUA"]
)

/** The platform of a launch by its config, else by its signers; null for none that is known. */
export const platformOf = (config: Address | undefined, signers: ReadonlyArray<Address>): string | null => {
  const byConfig = config === undefined ? undefined : platformOfConfig.get(config)
  const signer = signers.find((each) => platformOfSigner.has(each))
  return byConfig ?? (signer === undefined ? null : (platformOfSigner.get(signer) ?? null))
}
