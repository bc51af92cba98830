/** The first transfer to a wallet, as far as the record reaches. */
import { Fragment } from "preact"
import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Units } from "../parts/Figure.tsx"
import { TokenLink, WalletLink, When } from "../parts/Links.tsx"
import { Shown } from "../parts/States.tsx"
import { shortAddress, timeText } from "../parts/words.ts"

type Funded = Answer<"GET /api/v1/wallets/:wallet/funded-by">

/** Who opened the wallet, and which others the same wallet opened. */
const Opened = ({
  of: { funder, lamports, signature, timeMs },
  wallet
}: {
  readonly of: NonNullable<Funded["data"]["opening"]>
  readonly wallet: string
}) => {
  const { answer } = useRead("GET /api/v1/wallets/:wallet/related", { path: { wallet }, query: { limit: 5 } })
  const found = answer?.meta.funder
  return (
    <>
      Opened by <WalletLink wallet={funder} /> with <Units amount={lamports} decimals={9} /> SOL, <When atMs={timeMs} />
      , in{" "}
      <span class="address" title={signature}>
        {shortAddress(signature)}
      </span>
      .{found?.isHub === true && " That wallet opened more than 1,000 others: an exchange or another service."}
      {answer !== null && answer.data.length > 0 && (
        <>
          {" "}
          It also opened{" "}
          {answer.data.map((row, place) => (
            <Fragment key={row.wallet}>
              {place > 0 && ", "}
              <WalletLink wallet={row.wallet} />
            </Fragment>
          ))}
          {answer.nextCursor !== null && `, and others: ${found?.opened ?? "many"} in all`}.
        </>
      )}
    </>
  )
}

const Words = ({ of: { data, meta } }: { readonly of: Funded }) => {
  const since = meta.coveredFromMs === null ? "" : ` The record of this wallet begins ${timeText(meta.coveredFromMs)}.`
  if (data.opening !== null) {
    return <Opened of={data.opening} wallet={data.wallet} />
  }
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
