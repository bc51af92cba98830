/** What quotes need to know of proofs: the evidence of each swap, and the venues that are refused. */
import { Context, Layer } from "effect"

export interface VenueProof {
  /** Newest slot at which swaps executed by the deployed program paid what is quoted; null when unknown. */
  readonly provenAtSlot: number | null
  /** The reason why the venue is not quoted; null when it is quoted. */
  readonly refusal: string | null
}

/** The proofs of this process. */
export interface VenueProofs {
  readonly provenAtSlot: (dex: string) => number | null
  /** Venues that are not quoted, with the reason. Returns the same map until it changes. */
  readonly refused: () => ReadonlyMap<string, string>
  readonly replace: (proofs: ReadonlyMap<string, VenueProof>) => void
}

const NONE: ReadonlyMap<string, string> = new Map()

const make = (): VenueProofs => {
  let slots: ReadonlyMap<string, number | null> = new Map()
  let refused = NONE
  return {
    provenAtSlot: (dex) => slots.get(dex) ?? null,
    refused: () => refused,
    replace: (proofs) => {
      slots = new Map(Array.from(proofs, ([dex, { provenAtSlot }]) => [dex, provenAtSlot]))
      const next = Array.from(proofs).flatMap(([dex, { refusal }]) =>
        refusal === null ? [] : [[dex, refusal] as const]
      )
      const isSame = next.length === refused.size && next.every(([dex, refusal]) => refused.get(dex) === refusal)
      refused = isSame ? refused : new Map(next)
    }
  }
}

/** Without a layer, nothing is known and no venue is refused. */
export const VenueProofs = Context.Reference<VenueProofs>("fathom/quotes/VenueProofs", {
  defaultValue: () => ({ provenAtSlot: () => null, refused: () => NONE, replace: () => undefined })
})

/** Proofs that start empty and are filled by `replace`. */
export const layer: Layer.Layer<never> = Layer.sync(VenueProofs, make)
