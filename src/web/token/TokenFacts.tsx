import type { Answer } from "../data/contract.ts"
import type { Read } from "../data/useRead.ts"
import { CopyText } from "../parts/CopyText.tsx"
import { Facts } from "../parts/Facts.tsx"
import { Figure, Units } from "../parts/Figure.tsx"
import { When } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { shortAddress } from "../parts/words.ts"

export type FactsAnswer = Answer<"GET /api/v1/tokens/:chain/:address">

/** Milliseconds between two reads of a token's facts. */
export const FACTS_EVERY_MS = 15_000

const Authority = ({ address, known }: { readonly address: string | null; readonly known: boolean }) => {
  if (address !== null) {
    return <span title={address}>{shortAddress(address)}</span>
  }
  return known ? <>given up</> : <span class="soft">unknown</span>
}

/** Facts of one token, each with how well it is known. */
export const TokenFacts = ({ read }: { readonly read: Read<FactsAnswer> }) => (
  <Panel title="Token" read={read} everyMs={FACTS_EVERY_MS} rows={9}>
    {({ data }) => (
      <>
        <Facts
          of={[
            ["Price in SOL", <Figure of={data.priceSol} />],
            ["Volume in 24 h", <Figure of={data.volume24hUsd} short />],
            ["Supply", <Units amount={data.supply} decimals={data.token.decimals} />],
            ["Program", data.tokenProgram ?? "–"],
            ["Mint authority", <Authority address={data.mintAuthority} known={data.authoritiesKnown} />],
            ["Freeze authority", <Authority address={data.freezeAuthority} known={data.authoritiesKnown} />],
            [
              "Extensions",
              data.extensions === null ? "–" : data.extensions.length === 0 ? "none" : data.extensions.join(", ")
            ],
            ["First seen", <When atMs={data.createdAtMs ?? data.firstSeenAtMs} />]
          ]}
        />
        <p class="address">
          {data.token.address} <CopyText text={data.token.address} what="the mint" />
        </p>
      </>
    )}
  </Panel>
)
