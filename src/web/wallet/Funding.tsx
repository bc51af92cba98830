/** The first transfer to a wallet, as far as the record reaches. */
import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Units } from "../parts/Figure.tsx"
import { TokenLink, When } from "../parts/Links.tsx"
import { Shown } from "../parts/States.tsx"
import { shortAddress, timeText } from "../parts/words.ts"

type Funded = Answer<"GET /api/v1/wallets/:wallet/funded-by">

const Words = ({ of: { data, meta } }: { readonly of: Funded }) => {
  const since = meta.coveredFromMs === null ? "" : ` The record of this wallet begins ${timeText(meta.coveredFromMs)}.`
  if (data.transfer === null) {
    return <>No transfer to this wallet is recorded.{since}</>
  }
  const { amount, decimals, mint, signature, timeMs } = data.transfer
  return (
    <>
      First recorded transfer in: <Units amount={amount} decimals={decimals} /> <TokenLink mint={mint} />,{" "}
      <When atMs={timeMs} />, in{" "}
      <span class="address" title={signature}>
        {shortAddress(signature)}
      </span>
      {data.tradedBefore === true && "; it had traded before"}. Earlier transfers may exist.
    </>
  )
}

/** A sentence on what funded the wallet. */
export const Funding = ({ wallet }: { readonly wallet: string }) => {
  const read = useRead("GET /api/v1/wallets/:wallet/funded-by", { path: { wallet } })
  return (
    <div class="funding soft">
      <Shown read={read} what="its first transfer" rows={1} isQuiet>
        {(answer) => (
          <p>
            <Words of={answer} />
          </p>
        )}
      </Shown>
    </div>
  )
}
