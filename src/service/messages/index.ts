/**
 * Messages: what the service sends to people, by e-mail and SMS: written in the transaction of its activity, sent after it.
 * Knows no activities: what is said, and to whom, is theirs to decide.
 */
export { listWrittenMessages, MESSAGES_FOLDER, type WrittenMessage } from './folder-transport.ts'
export type { Email, Message, Sms, Transport } from './message.ts'
export { createMessenger, type Messenger } from './messenger.ts'
export { recordMessage } from './record.ts'
export { type MessageRules, readMessageRules } from './rules.ts'
export { writeBundleEmail, writeCodeEmail, writeCodeSms, writeInvitationEmail } from './texts.ts'
export { createTransports, type MessagesSettings, type SmsSettings, type SmtpSettings } from './transports.ts'
