import type { Address, Mint } from "../../domain/Address.ts"
import type { Launch } from "../../api/schemas/Launch.ts"
import { imageEntries, type ImageSteps, type StateImage } from "../columnar/StateImage.ts"

/** What was seen of the launch of a token. */
export interface LaunchRecord {
  readonly mint: Mint
  readonly launchpad: string
  /** The platform that launched the token on a program that several share; null when unknown. */
  readonly platform: string | null
  /** The mint that the curve is paid in; null when the creation was not seen or does not state it. */
  readonly quoteMint: Mint | null
  /** True when the creator's fee goes to the holders; null when unknown. */
  readonly holderRewards: boolean | null
  /** The curve of the token, or its pool after the migration; null when unknown. */
  readonly pool: Address | null
  /** The curve of the token, also after the migration; null when the creation was not seen. */
  readonly curve: Address | null
  /** The wallet that the launchpad names as creator; null when unknown. */
  readonly creator: Address | null
  /** Null when the creation was not seen. */
  readonly createdAtMs: number | null
  readonly graduatedAtMs: number | null
}

/** Launches in one step of an image. */
const AT_ONCE = 64

const imageTime = (image: StateImage, timeMs: number | null): number | null => {
  const written = image.number(timeMs ?? Number.NaN)
  return Number.isNaN(written) ? null : written
}

const imageFlag = (image: StateImage, flag: boolean | null): boolean | null => {
  const written = image.number(flag === null ? Number.NaN : Number(flag))
  return Number.isNaN(written) ? null : written === 1
}

const imageText = (image: StateImage, text: string | null): string | null => image.text(text ?? "") || null

const imageAddress = (image: StateImage, address: Address | null): Address | null => {
  const written = image.text(address ?? "")
  return written === "" ? null : (written as Address)
}

/** The launches with the newest events. Bounded: the launch with the oldest event is removed first. */
export class Launches {
  readonly #most: number
  // In the order of their last event.
  readonly #records = new Map<Mint, LaunchRecord>()
  #dropped: number | null = null

  constructor(most: number) {
    this.#most = most
  }

  /** Adds a launch or a migration. */
  add({ creator, event, holderRewards, launchpad, mint, platform, pool, quoteMint }: Launch, timeMs: number): void {
    const known = this.#records.get(mint)
    const created = event === "created"
    this.#records.delete(mint)
    this.#records.set(mint, {
      mint,
      launchpad,
      platform: platform ?? known?.platform ?? null,
      quoteMint: quoteMint ?? known?.quoteMint ?? null,
      holderRewards: holderRewards ?? known?.holderRewards ?? null,
      pool: pool ?? known?.pool ?? null,
      curve: created ? pool : (known?.curve ?? null),
      creator: creator ?? known?.creator ?? null,
      createdAtMs: created ? timeMs : (known?.createdAtMs ?? null),
      graduatedAtMs: created ? (known?.graduatedAtMs ?? null) : timeMs
    })
    const [oldest] = this.#records.values()
    if (this.#records.size > this.#most && oldest !== undefined) {
      this.#records.delete(oldest.mint)
      this.#dropped = Math.max(this.#dropped ?? 0, oldest.createdAtMs ?? oldest.graduatedAtMs ?? 0)
    }
  }

  /** The launch of a token; null when it was not seen. */
  of(mint: Mint): LaunchRecord | null {
    return this.#records.get(mint) ?? null
  }

  /** The latest time of a launch that was dropped to make room, in milliseconds; null while none was dropped. */
  get droppedToMs(): number | null {
    return this.#dropped
  }

  /** Writes every launch, or reads them into an empty list. */
  *image(image: StateImage): ImageSteps {
    this.#dropped = imageTime(image, this.#dropped)
    yield* imageEntries(image, this.#records, AT_ONCE, (key, launch) => {
      const mint = image.text(key ?? "") as Mint
      return [
        mint,
        {
          mint,
          launchpad: image.text(launch?.launchpad ?? ""),
          platform: imageText(image, launch?.platform ?? null),
          quoteMint: imageAddress(image, launch?.quoteMint ?? null),
          holderRewards: imageFlag(image, launch?.holderRewards ?? null),
          pool: imageAddress(image, launch?.pool ?? null),
          curve: imageAddress(image, launch?.curve ?? null),
          creator: imageAddress(image, launch?.creator ?? null),
          createdAtMs: imageTime(image, launch?.createdAtMs ?? null),
          graduatedAtMs: imageTime(image, launch?.graduatedAtMs ?? null)
        }
      ]
    })
  }

  /** Every launch, the one with the oldest event first. */
  all(): Iterable<LaunchRecord> {
    return this.#records.values()
  }
}
