/** What changed in the contract, newest first. Markdown. */
export const changelog = `# Changes of the API

Changes are additive: fields and endpoints may be added to v1, and what is there keeps its meaning.

## v1 (beta)

- Spot quotes, the quote stream and the exit check.
- The key of the request and its budgets at \`/api/v1/account/key\`, the freshness of every source at \`/freshness\`.
`
