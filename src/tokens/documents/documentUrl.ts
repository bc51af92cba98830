/** URLs of metadata documents from the URIs of tokens. */

/** Base URLs of gateways, without a slash at the end. */
export interface Gateways {
  /** `<ipfs>/<cid>/<path>`. */
  readonly ipfs: string
  /** `<arweave>/<id>`. */
  readonly arweave: string
}

/** A URL to read, and the trust in its host. */
export interface DocumentUrl {
  readonly url: string
  /** True for a gateway from the settings, false for a host that the token chose. */
  readonly isGateway: boolean
}

const IPFS = /^ipfs:\/\/(?:ipfs\/)?(?<id>[A-Za-z0-9]{46,100})(?<path>\/[^?#]*)?$/u
const ARWEAVE = /^ar:\/\/(?<id>[A-Za-z0-9_-]{43})(?<path>\/[^?#]*)?$/u

/** The path with every part encoded; null when a part would leave the folder of the id. */
const safePath = (path: string): string | null => {
  try {
    const parts = path.split("/").slice(1).map(decodeURIComponent)
    return parts.some((part) => part === "" || part === "." || part === ".." || /[/\\\p{Cc}]/u.test(part))
      ? null
      : parts.map((part) => `/${encodeURIComponent(part)}`).join("")
  } catch {
    return null
  }
}

const behind = (gateway: string, { groups }: RegExpExecArray): DocumentUrl | null => {
  const path = safePath(groups?.["path"] ?? "")
  return path === null ? null : { url: `${gateway}/${groups?.["id"]}${path}`, isGateway: true }
}

/**
 * The URL of a document. `ipfs:` and `ar:` URIs lead to the gateways, `https:` URIs stay as they are; null for anything
 * else.
 */
export const documentUrl = (uri: string, { arweave, ipfs }: Gateways): DocumentUrl | null => {
  const onIpfs = IPFS.exec(uri)
  if (onIpfs !== null) {
    return behind(ipfs, onIpfs)
  }
  const onArweave = ARWEAVE.exec(uri)
  if (onArweave !== null) {
    return behind(arweave, onArweave)
  }
  return URL.parse(uri)?.protocol === "https:" ? { url: uri, isGateway: false } : null
}
