/** Descriptions of schemas that some places of their use describe in words of their own. */
export const meanings: Readonly<Record<string, string>> = {
  Address: "A Solana address: base58 of 32 bytes.",
  Scalar: "One number, how well it is known, since when and until when.",
  Decimal: "An exact decimal number as text.",
  GroupId: "Names a group of tracked wallets of the caller's account.",
  TradeSide: "`buy`: the wallet received the token. `sell`: it gave the token.",
  FollowStatus: "Copies are made, not made for the time being, or never made again.",
  CopyFillStatus: "How far a copy has got. All but pending is final.",
  CoverageShare: "How much of one aspect is known: known items of all items."
}
