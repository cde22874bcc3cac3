/**
 * Network: source addresses, public addresses, names looked up under a limit, and the URLs that the service may call.
 */
export { parseAddress, parseBlock, printBlock } from './address.ts'
export { createNameLookups, type LookUpName } from './name-lookups.ts'
export { type PostAnswer, post } from './post.ts'
export { createPublicAddressTest } from './public-address.ts'
export { createResolveHost, type ResolveHost } from './resolve-host.ts'
export { sourceOf } from './source.ts'
export { type CheckWebhookUrl, createWebhookUrlRules, type FindWebhookPlace, type WebhookPlace } from './webhook-url.ts'
