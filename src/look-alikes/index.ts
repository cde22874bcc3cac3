/**
 * Look-alikes: names and addresses that a reader takes for one another. Definitions, plans, sends and votes say which are alike.
 * Apart from `diagnostics`, which every command line loads before its first line: this room brings the table of UTS #39.
 */
export { addressDifference, addressesIn, indexAddressLookAlikes } from './addresses.ts'
export { difference, findLookAlikes, indexLookAlikes, looksOf, type ScopedName } from './names.ts'
