import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { Authorization } from "../../api/middleware/Authorization.ts"

/** The paths of a contract and its pages that need no key. Paths with parameters are left out. */
export const openPaths = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  pages: ReadonlyArray<string>
): ReadonlySet<string> => {
  const paths = new Set(pages)
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, middleware }) => {
      if (!Array.from(middleware).some(({ key }) => key === Authorization.key)) {
        paths.add(endpoint.path)
      }
    }
  })
  return new Set(Array.from(paths).filter((path) => !path.includes(":")))
}
