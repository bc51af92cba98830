/** One class for every code of the catalogue. */
import { problem } from "./Problem.ts"

/** 400: A validation failure without a code of its own. `details` names every field. */
export class InvalidRequest extends problem<InvalidRequest>()("InvalidRequest", "invalid_request") {}

/** 400: The cursor is malformed, or was made with other selectors. */
export class InvalidCursor extends problem<InvalidCursor>()("InvalidCursor", "invalid_cursor") {}

/** 400: `denom=sol` on an EVM chain. */
export class InvalidDenomination extends problem<InvalidDenomination>()("InvalidDenomination", "invalid_denom") {}

/** 400: The id is not a 64-byte base58 signature. */
export class InvalidSignature extends problem<InvalidSignature>()("InvalidSignature", "invalid_signature") {}

/** 400: The chain is not served by this endpoint. */
export class UnsupportedChain extends problem<UnsupportedChain>()("UnsupportedChain", "unsupported_chain") {}

/** 401: The request carries no key. */
export class MissingApiKey extends problem<MissingApiKey>()("MissingApiKey", "missing_api_key") {}

/** 401: Malformed, unknown or revoked. The answer does not say which. */
export class InvalidApiKey extends problem<InvalidApiKey>()("InvalidApiKey", "invalid_api_key") {}

/** 403: The owner has switched the key off. */
export class KeyDisabled extends problem<KeyDisabled>()("KeyDisabled", "key_disabled") {}

/** 403: `details` names the scope. */
export class MissingScope extends problem<MissingScope>()("MissingScope", "missing_scope") {}

/** 403: The IP policy of the key excludes the caller's address. */
export class IpNotAllowed extends problem<IpNotAllowed>()("IpNotAllowed", "ip_not_allowed") {}

/** 403: The operation manages the account, and keys may not do that. */
export class SessionRequired extends problem<SessionRequired>()("SessionRequired", "session_required") {}

/** 403: A change that comes from another origin, or without the session's token. */
export class OriginNotAllowed extends problem<OriginNotAllowed>()("OriginNotAllowed", "origin_not_allowed") {}

/** 403: The operation, or one of its options, is for owners. */
export class OwnerRequired extends problem<OwnerRequired>()("OwnerRequired", "owner_required") {}

/** 403: The call must be signed and signing is not released. */
export class SignatureRequired extends problem<SignatureRequired>()(
  "SignatureRequired",
  "request_signature_required"
) {}

/** 403: A named capability that v1 does not offer. */
export class FeatureUnavailable extends problem<FeatureUnavailable>()("FeatureUnavailable", "feature_unavailable") {}

/** 404: Unknown path. */
export class PathNotFound extends problem<PathNotFound>()("PathNotFound", "not_found") {}

/** 404: The token is unknown to this service. */
export class TokenNotFound extends problem<TokenNotFound>()("TokenNotFound", "token_not_found") {}

/** 404: The pool is not in memory, or does not exist. */
export class PoolNotFound extends problem<PoolNotFound>()("PoolNotFound", "pool_not_found") {}

/** 404: No launch of the token was seen. */
export class LaunchNotFound extends problem<LaunchNotFound>()("LaunchNotFound", "launch_not_found") {}

/** 404: Unknown, or another account's. The answer does not say which. */
export class WalletNotFound extends problem<WalletNotFound>()("WalletNotFound", "wallet_not_found") {}

/** 404: Network or asset not in the catalog, or not for this wallet. */
export class FundingTargetNotFound extends problem<FundingTargetNotFound>()(
  "FundingTargetNotFound",
  "funding_target_not_found"
) {}

/** 404: Unknown, or not the caller's. */
export class AlertNotFound extends problem<AlertNotFound>()("AlertNotFound", "alert_not_found") {}

/** 404: Unknown, or not the caller's. */
export class FollowNotFound extends problem<FollowNotFound>()("FollowNotFound", "follow_not_found") {}

/** 404: Unknown, another account's, or no longer changeable. */
export class KeyNotFound extends problem<KeyNotFound>()("KeyNotFound", "key_not_found") {}

/** 404: No route for this pair and size. */
export class RouteNotFound extends problem<RouteNotFound>()("RouteNotFound", "no_route") {}

/** 404: A valid signature that no source has seen. It does not mean that the transaction failed. */
export class StatusNotFound extends problem<StatusNotFound>()("StatusNotFound", "status_not_found") {}

/** 405: The path has other methods, which `Allow` lists. */
export class MethodNotAllowed extends problem<MethodNotAllowed>()("MethodNotAllowed", "method_not_allowed") {}

/** 409: The pinned view has changed or expired: start at page one. */
export class CursorExpired extends problem<CursorExpired>()("CursorExpired", "cursor_expired") {}

/** 409: Blocks of the day are still to come, or were never read. The message says which. */
export class DayNotWhole extends problem<DayNotWhole>()("DayNotWhole", "day_not_whole") {}

/** 409: The service follows a chain instead of playing a recording. */
export class NotAReplay extends problem<NotAReplay>()("NotAReplay", "not_a_replay") {}

/** 409: Nothing of the recording is left to play. */
export class ReplayEnded extends problem<ReplayEnded>()("ReplayEnded", "replay_ended") {}

/** 409: The account has reached a limit. */
export class LimitReached extends problem<LimitReached>()("LimitReached", "limit_reached") {}

/** 409: The first request with this idempotency key is still running. */
export class IdempotencyInFlight extends problem<IdempotencyInFlight>()(
  "IdempotencyInFlight",
  "idempotency_in_flight"
) {}

/** 413: The body exceeds the limit of the endpoint, 8 KiB by default. */
export class BodyTooLarge extends problem<BodyTooLarge>()("BodyTooLarge", "body_too_large") {}

/** 414: The URL is longer than 8 KiB. */
export class UriTooLong extends problem<UriTooLong>()("UriTooLong", "uri_too_long") {}

/** 415: A body without a JSON content type. */
export class UnsupportedMediaType extends problem<UnsupportedMediaType>()(
  "UnsupportedMediaType",
  "unsupported_media_type"
) {}

/** 416: The file has no byte of the requested range. */
export class RangeNotSatisfiable extends problem<RangeNotSatisfiable>()(
  "RangeNotSatisfiable",
  "range_not_satisfiable"
) {}

/** 422: The idempotency key belongs to a different request. */
export class IdempotencyKeyReused extends problem<IdempotencyKeyReused>()(
  "IdempotencyKeyReused",
  "idempotency_key_reuse"
) {}

/** 429: The cost does not fit into the window; `details[0].field` names the policy. */
export class RateLimited extends problem<RateLimited>()("RateLimited", "rate_limited") {}

/** 500: A defect of the service. The answer carries no details. */
export class InternalError extends problem<InternalError>()("InternalError", "internal_error") {}

/** 501: The engine cannot serve this type of route. */
export class RouteTypeNotServed extends problem<RouteTypeNotServed>()("RouteTypeNotServed", "route_not_supported") {}

/** 503: A source failed, was malformed or is not ready yet. */
export class DataUnavailable extends problem<DataUnavailable>()("DataUnavailable", "data_unavailable") {}

/** 503: Pool state is not in memory yet; the request has queued it. */
export class StateNotLoaded extends problem<StateNotLoaded>()("StateNotLoaded", "state_cold") {}

/** 503: Pool state is too old to answer from. */
export class StateTooOld extends problem<StateTooOld>()("StateTooOld", "state_stale") {}

/** 503: The series is being built. */
export class ChartWarming extends problem<ChartWarming>()("ChartWarming", "chart_warming") {}

/** 503: An upstream did not answer in time. */
export class UpstreamTimeout extends problem<UpstreamTimeout>()("UpstreamTimeout", "upstream_timeout") {}

/** 503: An upstream failed. */
export class UpstreamUnavailable extends problem<UpstreamUnavailable>()(
  "UpstreamUnavailable",
  "upstream_unavailable"
) {}

/** 503: An upstream limits the rate of this service. */
export class UpstreamRateLimited extends problem<UpstreamRateLimited>()(
  "UpstreamRateLimited",
  "upstream_rate_limited"
) {}

/** 503: An upstream violated its protocol. */
export class UpstreamInvalid extends problem<UpstreamInvalid>()("UpstreamInvalid", "upstream_invalid") {}

/** 503: No venue could be read at all. */
export class PerpsUnavailable extends problem<PerpsUnavailable>()("PerpsUnavailable", "perps_unavailable") {}

/** 503: The limiter could not decide, so nothing passed. */
export class LimiterUnavailable extends problem<LimiterUnavailable>()("LimiterUnavailable", "limiter_unavailable") {}
