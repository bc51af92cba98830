import type { Answer } from "../data/contract.ts"
import { type Read, useRead } from "../data/useRead.ts"
import { CopyText } from "../parts/CopyText.tsx"
import { Facts } from "../parts/Facts.tsx"
import { Figure, Units } from "../parts/Figure.tsx"
import { WalletLink, When } from "../parts/Links.tsx"
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

/** The wallet that launched the token, with the tokens it launched and how many of them graduated. */
const Creator = ({ wallet }: { readonly wallet: string }) => {
  const { answer } = useRead("GET /api/v1/wallets/:wallet/launches", { path: { wallet }, query: { limit: 1 } })
  const sums = answer?.meta.sums
  return (
    <>
      <WalletLink wallet={wallet} />
      {sums !== undefined && sums.created > 0 && (
        <span class="under">
          {sums.created} {sums.created === 1 ? "launch" : "launches"} seen, {sums.graduated} graduated
        </span>
      )}
    </>
  )
}

/** Facts of one token, each with how well it is known. */
export const TokenFacts = ({
  creator,
  read
}: {
  readonly read: Read<FactsAnswer>
  readonly creator: string | null
}) => (
  <Panel title="Token" read={read} everyMs={FACTS_EVERY_MS} rows={10}>
    {({ data }) => (
      <>
        <Facts
          of={[
            ["Price in SOL", <Figure of={data.priceSol} />],
            ["Volume in 24 h", <Figure of={data.volume24hUsd} short />],
            ["Supply", <Units amount={data.supply} decimals={data.token.decimals} />],
            ["Creator", creator === null ? "–" : <Creator key={creator} wallet={creator} />],
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
