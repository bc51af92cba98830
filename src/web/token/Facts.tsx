import type { Answer } from "../data/contract.ts"
import type { Read } from "../data/useRead.ts"
import { CopyText } from "../parts/CopyText.tsx"
import { Fact } from "../parts/Fact.tsx"
import { Figure, Units } from "../parts/Figure.tsx"
import { When } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { shortAddress } from "../parts/words.ts"

/** Facts of one token. */
export type FactsAnswer = Answer<"GET /api/v1/tokens/:chain/:address">

/** Milliseconds between two reads of a token's facts. */
export const FACTS_EVERY_MS = 6000

const Authority = ({ address, known }: { readonly address: string | null; readonly known: boolean }) => {
  if (address !== null) {
    return <span title={address}>{shortAddress(address)}</span>
  }
  return known ? <>given up</> : <>–</>
}

/** Facts of one token with their quality. */
export const Facts = ({ read }: { readonly read: Read<FactsAnswer> }) => (
  <Panel title="Token" read={read} everyMs={FACTS_EVERY_MS} rows={5}>
    {({ data }) => (
      <>
        <dl class="facts">
          <Fact name="Price">
            <Figure of={data.priceUsd} />
          </Fact>
          <Fact name="Price in SOL">
            <Figure of={data.priceSol} />
          </Fact>
          <Fact name="Market cap">
            <Figure of={data.marketCapUsd} short />
          </Fact>
          <Fact name="Liquidity">
            <Figure of={data.liquidityUsd} short />
          </Fact>
          <Fact name="Volume in 24 h">
            <Figure of={data.volume24hUsd} short />
          </Fact>
          <Fact name="Holders">
            <Figure of={data.holders} />
          </Fact>
          <Fact name="Supply">
            <Units amount={data.supply} decimals={data.token.decimals} />
          </Fact>
          <Fact name="Program">{data.tokenProgram ?? "–"}</Fact>
          <Fact name="Mint authority">
            <Authority address={data.mintAuthority} known={data.authoritiesKnown} />
          </Fact>
          <Fact name="Freeze authority">
            <Authority address={data.freezeAuthority} known={data.authoritiesKnown} />
          </Fact>
          <Fact name="Extensions">
            {data.extensions === null ? "–" : data.extensions.length === 0 ? "none" : data.extensions.join(", ")}
          </Fact>
          <Fact name="First seen">
            <When atMs={data.createdAtMs ?? data.firstSeenAtMs} />
          </Fact>
        </dl>
        <p class="address">
          {data.token.address} <CopyText text={data.token.address} what="the mint" />
        </p>
      </>
    )}
  </Panel>
)
