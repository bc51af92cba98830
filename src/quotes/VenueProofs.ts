/** What quotes need from proofs: evidence for each swap, and venues to refuse. */
import { Context, Layer } from "effect"

export interface VenueProof {
  /** Newest slot for which the deployed program, executing swaps, paid exactly what was quoted; null when unknown. */
  readonly provenAtSlot: number | null
  /** Why the venue is not quoted; null when it is. */
  readonly refusal: string | null
}

/** The proofs of this process. */
export interface VenueProofs {
  readonly provenAtSlot: (dex: string) => number | null
  /** Refused venues with the reason. Returns the same map until something changes. */
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

/** Without a layer, there are no proofs and no venue is refused. */
export const VenueProofs = Context.Reference<VenueProofs>("fathom/quotes/VenueProofs", {
  defaultValue: () => ({ provenAtSlot: () => null, refused: () => NONE, replace: () => undefined })
})

/** Starts empty. `replace` fills it. */
export const layer: Layer.Layer<never> = Layer.sync(VenueProofs, make)
