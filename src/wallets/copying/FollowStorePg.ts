/** `FollowStore` on Postgres. Every query has a deadline. */
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  CopyFill,
  type FillSelection,
  type FollowSelection,
  FollowStoreUnavailable,
  isFollowId,
  NewFollow
} from "../../api/schemas/Copying.ts"
import { bounded } from "../../storage/deadline.ts"
import { transaction } from "../../storage/transaction.ts"
import { makeFillTable } from "./fillTable.ts"
import { FollowStore, type TurnSelection } from "./FollowStore.ts"
import { makeFollowTable } from "./followTable.ts"

/** Requests wait for these reads. Reading thousands of copies takes longer than reading a page. */
const READ_DEADLINE = Duration.millis(400)
const TURNS_DEADLINE = Duration.millis(1500)
const WRITE_DEADLINE = Duration.seconds(5)

const unavailable = (cause: unknown) => new FollowStoreUnavailable({ cause })

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const follows = makeFollowTable(sql)
  const fills = makeFillTable(sql)
  const read = bounded(READ_DEADLINE, unavailable)
  const readMany = bounded(TURNS_DEADLINE, unavailable)
  const write = bounded(WRITE_DEADLINE, unavailable)

  return FollowStore.of({
    recordFollow: Effect.fn("FollowStore.recordFollow")((follow: NewFollow) =>
      Effect.suspend(() => write(follows.record(NewFollow.make(follow))))
    ),
    recordFill: Effect.fn("FollowStore.recordFill")((fill: CopyFill) =>
      Effect.suspend(() => write(transaction(sql, fills.record(CopyFill.make(fill)))))
    ),
    forgetOthers: Effect.fn("FollowStore.forgetOthers")((accountId: string, kept: ReadonlyArray<string>) =>
      Effect.asVoid(write(follows.forgetOthers(accountId, kept)))
    ),
    // Text that is not an id may hold bytes that Postgres rejects in a parameter.
    find: Effect.fn("FollowStore.find")((accountId: string, id: string) =>
      isFollowId(id) ? read(follows.find(accountId, id)) : Effect.succeed(null)
    ),
    follows: Effect.fn("FollowStore.follows")((selection: FollowSelection) => read(follows.page(selection))),
    fills: Effect.fn("FollowStore.fills")((selection: FillSelection) => read(fills.page(selection))),
    progress: Effect.fn("FollowStore.progress")((accountId: string) => read(follows.progress(accountId))),
    inTurn: Effect.fn("FollowStore.inTurn")((selection: TurnSelection) => readMany(fills.inTurn(selection)))
  })
})

/** Follows in the tables `copy_follows` and `copy_fills`. */
export const layer: Layer.Layer<FollowStore, never, SqlClient.SqlClient> = Layer.effect(FollowStore, make)
