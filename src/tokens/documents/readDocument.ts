/** Off-chain metadata of a token, as JSON by the Metaplex token standard and as launchpads write it. The content is untrusted. */
import type { DocumentLinks, MetadataDocument } from "../../api/schemas/TokenMetadata.ts"
import { plainText } from "./plainText.ts"

/** The longest texts, in UTF-16 units. Longer texts are cut off. */
const MOST = { name: 128, symbol: 32, description: 2000 }
/** Longer links are null. */
const MOST_LINK = 1024

type Json = Readonly<Record<string, unknown>>

const objectOf = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {}

const textOf = (value: unknown, most: number): string | null => {
  if (typeof value !== "string") {
    return null
  }
  // The first cut bounds the work. A character that is cut in half is removed with the invisible ones.
  const text = plainText(value.slice(0, 2 * most)).slice(0, most)
  return plainText(text) || null
}

/** An `https` link without credentials; null for anything else. */
const linkOf = (value: unknown): string | null => {
  const url = typeof value === "string" && value.length <= MOST_LINK ? URL.parse(plainText(value)) : null
  return url !== null &&
    url.protocol === "https:" &&
    url.username === "" &&
    url.password === "" &&
    url.href.length <= MOST_LINK
    ? url.href
    : null
}

/** The first link under one of these names. Earlier places win. */
const linkIn = (places: ReadonlyArray<Json>, ...names: ReadonlyArray<string>): string | null =>
  places.flatMap((place) => names.flatMap((name) => linkOf(place[name]) ?? []))[0] ?? null

const linksOf = (json: Json): DocumentLinks => {
  const places = [json, objectOf(json["extensions"]), objectOf(json["links"])]
  return {
    website: linkIn(places, "website", "external_url"),
    twitter: linkIn(places, "twitter", "x"),
    telegram: linkIn(places, "telegram"),
    discord: linkIn(places, "discord")
  }
}

/**
 * The document in a JSON text; null when the text is not a JSON object. `resolve` makes a URL of an image address that
 * is not an `https` link, such as an IPFS address.
 */
export const readDocument = (text: string, resolve: (address: string) => string | null): MetadataDocument | null => {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return null
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    return null
  }
  const fields = json as Json
  const { description, image, name, symbol } = fields
  return {
    name: textOf(name, MOST.name),
    symbol: textOf(symbol, MOST.symbol),
    description: textOf(description, MOST.description),
    imageUrl: linkOf(image) ?? (typeof image === "string" ? linkOf(resolve(image)) : null),
    links: linksOf(fields)
  }
}
