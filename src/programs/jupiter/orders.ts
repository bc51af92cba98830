/** How keepers fill Jupiter's limit orders (both programs) and DCA. Layouts: the programs' IDLs. */
import { Address } from "../../domain/Address.ts"
import { tagAt, tagOf } from "../layout/anchor.ts"

/** What an instruction does to fill an order. Numbers are account indexes. */
export type OrderAction =
  /** Takes tokens out of the order. */
  | { readonly kind: "begin" }
  /** Pays for the tokens. `owner` is null when the instruction does not name the owner. */
  | { readonly kind: "fill"; readonly custody: number; readonly owner: number | null }
  /** Pays the bought tokens to the owner. */
  | { readonly kind: "payout"; readonly custody: number; readonly owner: number }

const PRE_FLASH_FILL = tagOf("f02f99440dbee12a")
const FLASH_FILL = tagOf("fc681286a44e128c")

const actions: ReadonlyMap<Address, ReadonlyMap<bigint, OrderAction>> = new Map([
  [
    Address.make("jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu"),
    new Map<bigint, OrderAction>([
      [PRE_FLASH_FILL, { kind: "begin" }],
      [FLASH_FILL, { kind: "fill", custody: 0, owner: 2 }],
      [tagOf("e87a7319c78f88a2"), { kind: "fill", custody: 0, owner: 2 }]
    ])
  ],
  [
    Address.make("j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X"),
    new Map<bigint, OrderAction>([
      [PRE_FLASH_FILL, { kind: "begin" }],
      [FLASH_FILL, { kind: "fill", custody: 2, owner: 1 }]
    ])
  ],
  [
    Address.make("DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M"),
    new Map<bigint, OrderAction>([
      [tagOf("8fcd03bfa2d7f531"), { kind: "begin" }],
      [tagOf("7340e24e21d369a2"), { kind: "fill", custody: 1, owner: null }],
      [tagOf("a334c8e78c0345ba"), { kind: "payout", custody: 1, owner: 2 }]
    ])
  ]
])

/** True for programs that keep orders. */
export const isOrderProgram = (program: Address): boolean => actions.has(program)

/** What an instruction with this data does; null when it is not part of a fill. */
export const orderActionOf = (program: Address, data: Uint8Array): OrderAction | null =>
  actions.get(program)?.get(tagAt(data, 0)) ?? null
