import { urlOf } from "../data/request.ts"

/** A link to a list of a wallet as a CSV file. */
export const CsvLink = ({
  list,
  query = {},
  wallet
}: {
  readonly wallet: string
  readonly list: "lots" | "trades" | "transfers"
  readonly query?: Readonly<Record<string, string>>
}) => (
  <a
    href={urlOf("GET /api/v1/wallets/:wallet/:list", { wallet, list }, { ...query, format: "csv" })}
    download={`${list}-${wallet}.csv`}
    target="_self"
  >
    As CSV<span class="hidden">: {list}</span>
  </a>
)
