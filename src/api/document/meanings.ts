/** Descriptions of schemas that some places of their use describe in words of their own, such as those of amounts. */
export const meanings: Readonly<Record<string, string>> = {
  Address: "A Solana address: base58 of 32 bytes.",
  Atomic: "A whole number of a mint's smallest unit, as decimal digits.",
  Scalar: "One number, how well it is known, since when and until when.",
  Decimal: "An exact decimal number as text.",
  Decimals: "Decimals of a mint, 0 to 18.",
  Usd: "Dollars as an exact decimal.",
  WideAtomic: "A whole number of an asset's smallest unit, 1 to 128 digits.",
  GroupId: "Names a group of tracked wallets of the caller's account.",
  Signature: "A transaction signature: base58 of 64 bytes.",
  TradeSide: "`buy`: the wallet received the token. `sell`: it gave the token.",
  FollowStatus: "Copies are made, not made for the time being, or never made again.",
  CopyFillStatus: "How far a copy has got. All but pending is final.",
  CoverageShare: "How much of one aspect is known: known items of all items."
}
