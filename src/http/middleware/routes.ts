import { FindMyWay, type HttpRouter } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"

type Path = Exclude<HttpRouter.PathInput, "*">

const isPath = (path: string): path is Path => path.startsWith("/")

/** Router settings: exact spelling, and parameters as long as a URL may be, because the endpoint validates them. */
export const routerConfig = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  maxParamLength: 8192
}

/** A segment of a path without its escapes; null when one is broken. A bundler drops the call if its result is unused. */
const decoded = (segment: string): string | null => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}

const isDecodable = (segment: string): boolean => decoded(segment) !== null

/** What is known of the paths of a contract and of the pages beside it. */
export interface Routes {
  /** The methods of the route at a URL, in the order of the `Allow` header; empty without a route. */
  readonly allowed: (url: string) => ReadonlyArray<string>
  /**
   * A URL whose broken escapes are replaced, so that its route can be found, and the first parameter with one; null when
   * the path can be decoded. A parameter that cannot be decoded has no route otherwise.
   */
  readonly repaired: (url: string) => { readonly url: string; readonly parameter: string } | null
}

/** Collects the paths of a contract. `pages` are paths outside the contract that answer GET. */
export const routesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  pages: ReadonlyArray<Path>
): Routes => {
  const table = FindMyWay.make<string>(routerConfig)
  const methods = new Set<string>(["GET"])
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      if (isPath(endpoint.path)) {
        methods.add(endpoint.method)
        table.on(endpoint.method, endpoint.path, endpoint.path)
      }
    }
  })
  for (const page of pages) {
    table.on("GET", page, page)
  }
  const methodsAt = (url: string) => Array.from(methods).filter((method) => table.find(method, url) !== undefined)
  return {
    allowed: (url) => {
      const found = methodsAt(url)
      const reads = found.includes("GET") ? ["HEAD"] : []
      return found.length === 0 ? [] : [...found, ...reads, "OPTIONS"]
    },
    repaired: (url) => {
      const segments = (url.split("?", 1)[0] ?? "").split("/")
      const at = segments.findIndex((segment) => !isDecodable(segment))
      if (at === -1) {
        return null
      }
      const readable = segments.map((segment) => (isDecodable(segment) ? segment : "-")).join("/")
      const [method = "GET"] = methodsAt(readable)
      const part = table.find(method, readable)?.handler.split("/")[at]
      return part?.startsWith(":") === true ? { url: readable, parameter: part.slice(1) } : null
    }
  }
}
