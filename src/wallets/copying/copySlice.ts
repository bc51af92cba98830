/** Paging by place, newest first: by time descending, then by id descending. */
import type { CopyPlace, CopySlice } from "../../api/schemas/Copying.ts"

/** The first `limit` rows as a page. `rows` holds one row more than `limit` where another page follows. */
export const sliceOf = <Row>(
  rows: ReadonlyArray<Row>,
  limit: number,
  placeOf: (row: Row) => CopyPlace
): CopySlice<Row> => {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next: last !== undefined && rows.length > limit ? placeOf(last) : null }
}

export const followPlace = ({ createdAtMs, id }: { readonly createdAtMs: number; readonly id: string }): CopyPlace => ({
  atMs: createdAtMs,
  id
})

/** The place of a fill in its list: by the time of the leader's trade. */
export const fillPlace = ({
  id,
  leader
}: {
  readonly id: string
  readonly leader: { readonly atMs: number }
}): CopyPlace => ({ atMs: leader.atMs, id })
