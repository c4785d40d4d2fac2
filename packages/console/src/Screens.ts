/** All screens, each with its address. To add one, add an Effect of screens here. */
import { Effect } from "effect"
import { destinationScreens } from "./destination/DestinationScreens.ts"
import { erasureScreens } from "./event/ErasureScreens.ts"
import { eventScreens } from "./event/EventScreens.ts"
import { auditScreens } from "./audit/AuditScreens.ts"
import { peopleScreens } from "./person/PeopleScreens.ts"
import { rereadActs } from "./event/RereadActs.ts"
import { trashActs } from "./event/TrashActs.ts"
import { verifyActs } from "./event/VerifyActs.ts"
import { overviewScreens } from "./overview/OverviewScreens.ts"
import { fileScreens } from "./file/FileScreens.ts"
import { importScreens } from "./file/ImportScreens.ts"
import { noticeScreens } from "./notice/NoticeScreens.ts"
import { paletteScreens } from "./palette/PaletteScreens.ts"
import { pollScreens } from "./poll/PollScreens.ts"
import { preferenceScreens } from "./screen/Preferences.ts"
import { integrationScreens } from "./integration/IntegrationScreens.ts"
import { lateScreens } from "./source/LateScreens.ts"
import { sourceScreens } from "./source/SourceScreens.ts"
import { providerScreens } from "./session/ProviderScreens.ts"
import { sessionScreens } from "./session/SessionScreens.ts"
import { inboxScreens } from "./inbox/InboxScreens.ts"
import { liveScreens } from "./live/LiveScreens.ts"
import { tableListScreens } from "./table/TableListScreens.ts"
import { viewScreens } from "./view/ViewScreens.ts"
import { tableScreens } from "./table/TableScreens.ts"

export const allScreens = Effect.map(
  Effect.all([
    overviewScreens,
    paletteScreens,
    preferenceScreens,
    sessionScreens,
    providerScreens,
    tableListScreens,
    tableScreens,
    viewScreens,
    eventScreens,
    inboxScreens,
    erasureScreens,
    trashActs,
    verifyActs,
    rereadActs,
    sourceScreens,
    lateScreens,
    integrationScreens,
    destinationScreens,
    fileScreens,
    importScreens,
    pollScreens,
    noticeScreens,
    peopleScreens,
    auditScreens,
    liveScreens,
  ]),
  (all) => all.flat(),
)
