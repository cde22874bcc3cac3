/**
 * Sending: from names and amounts to orders, one or a file of them, what will come of each, and the workflows that carry them
 * out. Prints nothing; the CLI asks and shows.
 */
export {
  type AlikeReference,
  alikeWords,
  assertFirstAlike,
  assertNotAlike,
  findAlikeReferences,
  findAlikeRows,
} from './alike-references.ts'
export { printAmount, printToken } from './amount.ts'
export { createHeldByApi } from './api-balances.ts'
export { type NodeStanding, nodeName, readNodeStanding } from './ask-node.ts'
export { askedAnew, asTheyStand, toldNow } from './asked-anew.ts'
export { type AskedRow, findAskedRows, lookAlikesIn } from './batch-approval.ts'
export { type BatchFile, type FileRow, readBatchFile } from './batch-file.ts'
export { makeOrders, type OrderedRow } from './batch-orders.ts'
export { countRows, findBatch, readBatchReport, rowsAsTheyStand } from './batch-reading.ts'
export { type BatchReport, countStates, exitOfBatch, rowState, type StandingRow, toReportCsv } from './batch-report.ts'
export { beginBatch, type FollowedBatch, followBatch } from './batch-running.ts'
export { type BatchTotal, sumUp, withFunds } from './batch-totals.ts'
export { describeSend } from './describe.ts'
export { type LamportFee, type NamedAddress, nameAddress, type SendDescription } from './description.ts'
export { assertNotElsewhere } from './elsewhere.ts'
export { type Finality, isFinality, type NodeSettings, withFinality } from './finality.ts'
export { isDenied, type SendForecast, type SendMeaning, whyDenied } from './meaning.ts'
export { chainOf, type Directory, makeOrder, partiesOf, senderOf } from './order.ts'
export { checkTokens, prepareSend, readKnown, type SendNames } from './prepare.ts'
export { findReplacers, type ReplacedBy, withOffered, withReplacers } from './replaced-by.ts'
export { makeReplacement, type Replacement, replacementReference } from './replacement.ts'
export { assertNone, makeRequest, memberOf, OPTIONAL, REQUIRED, type SendField } from './request.ts'
export {
  beginSend,
  type EarlierSend,
  enterAgain,
  findEarlier,
  followSend,
  isFinal,
  ledgerOf,
  releaseGivenUp,
} from './running.ts'
export { createGasCeilings, type FeeSettings } from './send-fee-ceiling.ts'
export { readSenders, type SenderBalance, withNonces } from './senders.ts'
export { readSignedTransaction } from './signed-transaction.ts'
export { assertFunded, type PartyBalance, type Simulation, simulateSends } from './simulate.ts'
export { exitOfStates, nextOf, nextOfWaiting, SEND_STATES, type SendState, stateOf } from './states.ts'
export { unknownName, usage } from './usage.ts'
