/** One class for every code of the catalogue. */
import { Schema } from "effect"
import { problem } from "./Problem.ts"

/** 400: A validation failure without a code of its own; `details` names every field. */
export class InvalidRequest extends Schema.Error<InvalidRequest>("InvalidRequest")(
  ...problem("InvalidRequest", "invalid_request")
) {
  readonly _tag = "InvalidRequest"
  declare retryAfter?: number
}

/** 400: The cursor is malformed, or its selectors differ from those it was made with. */
export class InvalidCursor extends Schema.Error<InvalidCursor>("InvalidCursor")(
  ...problem("InvalidCursor", "invalid_cursor")
) {
  readonly _tag = "InvalidCursor"
  declare retryAfter?: number
}

/** 400: `denom=sol` on an EVM chain. */
export class InvalidDenomination extends Schema.Error<InvalidDenomination>("InvalidDenomination")(
  ...problem("InvalidDenomination", "invalid_denom")
) {
  readonly _tag = "InvalidDenomination"
  declare retryAfter?: number
}

/** 400: The id is not a 64-byte base58 signature. */
export class InvalidSignature extends Schema.Error<InvalidSignature>("InvalidSignature")(
  ...problem("InvalidSignature", "invalid_signature")
) {
  readonly _tag = "InvalidSignature"
  declare retryAfter?: number
}

/** 400: The chain is not served by this endpoint. */
export class UnsupportedChain extends Schema.Error<UnsupportedChain>("UnsupportedChain")(
  ...problem("UnsupportedChain", "unsupported_chain")
) {
  readonly _tag = "UnsupportedChain"
  declare retryAfter?: number
}

/** 401: No bearer token. */
export class MissingApiKey extends Schema.Error<MissingApiKey>("MissingApiKey")(
  ...problem("MissingApiKey", "missing_api_key")
) {
  readonly _tag = "MissingApiKey"
  declare retryAfter?: number
}

/** 401: Malformed, unknown or revoked; the caller is not told which. */
export class InvalidApiKey extends Schema.Error<InvalidApiKey>("InvalidApiKey")(
  ...problem("InvalidApiKey", "invalid_api_key")
) {
  readonly _tag = "InvalidApiKey"
  declare retryAfter?: number
}

/** 403: The owner has switched the key off. */
export class KeyDisabled extends Schema.Error<KeyDisabled>("KeyDisabled")(...problem("KeyDisabled", "key_disabled")) {
  readonly _tag = "KeyDisabled"
  declare retryAfter?: number
}

/** 403: `details` names the scope. */
export class MissingScope extends Schema.Error<MissingScope>("MissingScope")(
  ...problem("MissingScope", "missing_scope")
) {
  readonly _tag = "MissingScope"
  declare retryAfter?: number
}

/** 403: The IP policy of the key excludes the caller's address. */
export class IpNotAllowed extends Schema.Error<IpNotAllowed>("IpNotAllowed")(
  ...problem("IpNotAllowed", "ip_not_allowed")
) {
  readonly _tag = "IpNotAllowed"
  declare retryAfter?: number
}

/** 403: The call must be signed and signing is not released. */
export class SignatureRequired extends Schema.Error<SignatureRequired>("SignatureRequired")(
  ...problem("SignatureRequired", "request_signature_required")
) {
  readonly _tag = "SignatureRequired"
  declare retryAfter?: number
}

/** 403: A named capability that v1 does not offer. */
export class FeatureUnavailable extends Schema.Error<FeatureUnavailable>("FeatureUnavailable")(
  ...problem("FeatureUnavailable", "feature_unavailable")
) {
  readonly _tag = "FeatureUnavailable"
  declare retryAfter?: number
}

/** 404: Unknown path. */
export class PathNotFound extends Schema.Error<PathNotFound>("PathNotFound")(...problem("PathNotFound", "not_found")) {
  readonly _tag = "PathNotFound"
  declare retryAfter?: number
}

/** 404: The token is unknown to us. */
export class TokenNotFound extends Schema.Error<TokenNotFound>("TokenNotFound")(
  ...problem("TokenNotFound", "token_not_found")
) {
  readonly _tag = "TokenNotFound"
  declare retryAfter?: number
}

/** 404: Unknown, or not the caller's: indistinguishable. */
export class WalletNotFound extends Schema.Error<WalletNotFound>("WalletNotFound")(
  ...problem("WalletNotFound", "wallet_not_found")
) {
  readonly _tag = "WalletNotFound"
  declare retryAfter?: number
}

/** 404: Network or asset not in the catalog, or not for this wallet. */
export class FundingTargetNotFound extends Schema.Error<FundingTargetNotFound>("FundingTargetNotFound")(
  ...problem("FundingTargetNotFound", "funding_target_not_found")
) {
  readonly _tag = "FundingTargetNotFound"
  declare retryAfter?: number
}

/** 404: Unknown, or not the caller's. */
export class AlertNotFound extends Schema.Error<AlertNotFound>("AlertNotFound")(
  ...problem("AlertNotFound", "alert_not_found")
) {
  readonly _tag = "AlertNotFound"
  declare retryAfter?: number
}

/** 404: Unknown, or not the caller's. */
export class FollowNotFound extends Schema.Error<FollowNotFound>("FollowNotFound")(
  ...problem("FollowNotFound", "follow_not_found")
) {
  readonly _tag = "FollowNotFound"
  declare retryAfter?: number
}

/** 404: No route for this pair and size. */
export class RouteNotFound extends Schema.Error<RouteNotFound>("RouteNotFound")(
  ...problem("RouteNotFound", "no_route")
) {
  readonly _tag = "RouteNotFound"
  declare retryAfter?: number
}

/** 404: A valid signature that nobody has seen; not a statement that it failed. */
export class StatusNotFound extends Schema.Error<StatusNotFound>("StatusNotFound")(
  ...problem("StatusNotFound", "status_not_found")
) {
  readonly _tag = "StatusNotFound"
  declare retryAfter?: number
}

/** 409: The pinned view changed or expired: start at page one. */
export class CursorExpired extends Schema.Error<CursorExpired>("CursorExpired")(
  ...problem("CursorExpired", "cursor_expired")
) {
  readonly _tag = "CursorExpired"
  declare retryAfter?: number
}

/** 409: An account limit. */
export class LimitReached extends Schema.Error<LimitReached>("LimitReached")(
  ...problem("LimitReached", "limit_reached")
) {
  readonly _tag = "LimitReached"
  declare retryAfter?: number
}

/** 409: The first request of this idempotency key still runs. */
export class IdempotencyInFlight extends Schema.Error<IdempotencyInFlight>("IdempotencyInFlight")(
  ...problem("IdempotencyInFlight", "idempotency_in_flight")
) {
  readonly _tag = "IdempotencyInFlight"
  declare retryAfter?: number
}

/** 413: The body passes the limit of the endpoint, 8 KiB unless it says otherwise. */
export class BodyTooLarge extends Schema.Error<BodyTooLarge>("BodyTooLarge")(
  ...problem("BodyTooLarge", "body_too_large")
) {
  readonly _tag = "BodyTooLarge"
  declare retryAfter?: number
}

/** 415: A body without a JSON content type. */
export class UnsupportedMediaType extends Schema.Error<UnsupportedMediaType>("UnsupportedMediaType")(
  ...problem("UnsupportedMediaType", "unsupported_media_type")
) {
  readonly _tag = "UnsupportedMediaType"
  declare retryAfter?: number
}

/** 422: The idempotency key belongs to a different request. */
export class IdempotencyKeyReused extends Schema.Error<IdempotencyKeyReused>("IdempotencyKeyReused")(
  ...problem("IdempotencyKeyReused", "idempotency_key_reuse")
) {
  readonly _tag = "IdempotencyKeyReused"
  declare retryAfter?: number
}

/** 429: The cost does not fit into the window; `details[0].field` names the policy. */
export class RateLimited extends Schema.Error<RateLimited>("RateLimited")(...problem("RateLimited", "rate_limited")) {
  readonly _tag = "RateLimited"
  declare retryAfter?: number
}

/** 500: A defect of ours. Nothing of it is told. */
export class InternalError extends Schema.Error<InternalError>("InternalError")(
  ...problem("InternalError", "internal_error")
) {
  readonly _tag = "InternalError"
  declare retryAfter?: number
}

/** 501: The engine cannot serve this type of route. */
export class RouteTypeNotServed extends Schema.Error<RouteTypeNotServed>("RouteTypeNotServed")(
  ...problem("RouteTypeNotServed", "route_not_supported")
) {
  readonly _tag = "RouteTypeNotServed"
  declare retryAfter?: number
}

/** 503: A source failed, was malformed or is not ready yet. */
export class DataUnavailable extends Schema.Error<DataUnavailable>("DataUnavailable")(
  ...problem("DataUnavailable", "data_unavailable")
) {
  readonly _tag = "DataUnavailable"
  declare retryAfter?: number
}

/** 503: Pool state is not in memory yet; asking has queued it. */
export class StateNotLoaded extends Schema.Error<StateNotLoaded>("StateNotLoaded")(
  ...problem("StateNotLoaded", "state_cold")
) {
  readonly _tag = "StateNotLoaded"
  declare retryAfter?: number
}

/** 503: Pool state is too old to answer from. */
export class StateTooOld extends Schema.Error<StateTooOld>("StateTooOld")(...problem("StateTooOld", "state_stale")) {
  readonly _tag = "StateTooOld"
  declare retryAfter?: number
}

/** 503: The series is being built. */
export class ChartWarming extends Schema.Error<ChartWarming>("ChartWarming")(
  ...problem("ChartWarming", "chart_warming")
) {
  readonly _tag = "ChartWarming"
  declare retryAfter?: number
}

/** 503: An upstream did not answer in time. */
export class UpstreamTimeout extends Schema.Error<UpstreamTimeout>("UpstreamTimeout")(
  ...problem("UpstreamTimeout", "upstream_timeout")
) {
  readonly _tag = "UpstreamTimeout"
  declare retryAfter?: number
}

/** 503: An upstream failed. */
export class UpstreamUnavailable extends Schema.Error<UpstreamUnavailable>("UpstreamUnavailable")(
  ...problem("UpstreamUnavailable", "upstream_unavailable")
) {
  readonly _tag = "UpstreamUnavailable"
  declare retryAfter?: number
}

/** 503: An upstream is limiting us. */
export class UpstreamRateLimited extends Schema.Error<UpstreamRateLimited>("UpstreamRateLimited")(
  ...problem("UpstreamRateLimited", "upstream_rate_limited")
) {
  readonly _tag = "UpstreamRateLimited"
  declare retryAfter?: number
}

/** 503: An upstream broke its own protocol. */
export class UpstreamInvalid extends Schema.Error<UpstreamInvalid>("UpstreamInvalid")(
  ...problem("UpstreamInvalid", "upstream_invalid")
) {
  readonly _tag = "UpstreamInvalid"
  declare retryAfter?: number
}

/** 503: No venue could be read at all. */
export class PerpsUnavailable extends Schema.Error<PerpsUnavailable>("PerpsUnavailable")(
  ...problem("PerpsUnavailable", "perps_unavailable")
) {
  readonly _tag = "PerpsUnavailable"
  declare retryAfter?: number
}

/** 503: Admission could not be decided, so nothing passed. */
export class LimiterUnavailable extends Schema.Error<LimiterUnavailable>("LimiterUnavailable")(
  ...problem("LimiterUnavailable", "limiter_unavailable")
) {
  readonly _tag = "LimiterUnavailable"
  declare retryAfter?: number
}
