/** Lists that are read page by page. */
import type { Page, Pages } from "../data/usePages.ts"
import { Failed, Shown } from "./States.tsx"
import { Table, type TableProps } from "./Table.tsx"

/** A button that reads the next page of a list. Nothing at the end of the list. */
export const More = ({ of: { more, next } }: { readonly of: Pick<Pages<unknown>, "more" | "next"> }) => (
  <>
    {next.failure !== null && <Failed failure={next.failure} />}
    {more !== null && (
      <button type="button" class="more" disabled={next.isBusy} onClick={more}>
        {next.isBusy ? "Loading" : "Show more"}
      </button>
    )}
  </>
)

/** One read looks at a bounded number of rows, so a page may be empty although later pages are not. */
export const EMPTY_SO_FAR = "None among the newest. There may be older ones."

/** A list as a table, with a button that reads its next page. `height` rows are reserved until the first answer. */
export const PagedTable = <Item, First extends Page<Item>>({
  height,
  pages,
  what,
  ...table
}: Omit<TableProps<Item>, "rows"> & {
  readonly pages: Pages<Item, First>
  readonly what: string
  readonly height: number
}) => (
  <Shown read={pages.read} what={what} rows={height}>
    {() => (
      <>
        <Table {...table} empty={pages.more === null ? table.empty : EMPTY_SO_FAR} rows={pages.items} />
        <More of={pages} />
      </>
    )}
  </Shown>
)
