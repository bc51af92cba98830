/** Titles of the groups of operations, in the order of the reference. */
const titles: Readonly<Record<string, string>> = {
  system: "Service",
  account: "Your key",
  spot: "Spot quotes",
  routing: "Routing and transactions",
  market: "Market",
  marketRealtime: "Market socket",
  marketStreams: "Market event streams",
  tokens: "Tokens",
  tokenBatch: "Tokens in batches",
  screen: "Tokens by statistics",
  priceHistory: "Prices in the past",
  launches: "Launches",
  search: "Search",
  trades: "Trades",
  pools: "Pools",
  topTraders: "Top traders",
  wallets: "Wallets",
  tracker: "Wallet tracking",
  alerts: "Alerts",
  callouts: "Callouts",
  copying: "Copy trading",
  perps: "Perpetual futures",
  exports: "Exports of whole days",
  replayFills: "Replays",
  accountFunding: "Account funding",
  accountKeys: "Keys of the account",
  sessions: "Sessions of the app",
  closed: "Closed operations"
}

interface Tag {
  readonly name: string
}

/** The tags in the order of their titles. Throws for a tag without a title. */
export const ordered = <T extends Tag>(
  tags: ReadonlyArray<T>
): ReadonlyArray<T & { readonly "x-displayName": string }> => {
  const places = Object.keys(titles)
  return tags
    .map((tag) => {
      const title = titles[tag.name]
      if (title === undefined) {
        throw new Error(`The tag ${tag.name} has no title.`)
      }
      return { ...tag, "x-displayName": title }
    })
    .toSorted((a, b) => places.indexOf(a.name) - places.indexOf(b.name))
}
