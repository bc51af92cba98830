/** What changed in the contract, newest first. Markdown. */
export const changelog = `# Changes of the API

Changes are additive: fields and endpoints may be added to v1, and what is there keeps its meaning.

## v1 (beta)

- Callouts at \`/api/v1/callouts/feed\` and \`/api/v1/callouts/token/{mint}\`, each with a page for people at \`/c/{id}\`.
- Routes at \`/api/v1/route\` and the public status of transactions at \`/api/v1/status/{id}\`, both read-only. Spot orders,
  perps orders and collateral rebalance are refused, and say so.
- Spot quotes, the quote stream and the exit check.
- The key of the request and its budgets at \`/api/v1/account/key\`, the freshness of every source at \`/freshness\`.
`
