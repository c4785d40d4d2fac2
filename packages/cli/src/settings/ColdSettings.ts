/** The settings of cold history: where files of old events are, and when events move there. */
import { isBucket } from "@data-cabinet/core/destination/CheckDestination"
import { credentialsRefusal, isS3, S3_SETTINGS } from "@data-cabinet/core/destination/S3Settings"
import type { BucketPlace } from "@data-cabinet/delivery/destination/S3Bucket"
import { Result } from "effect"
import * as SettingForm from "./SettingForm.ts"
import { type Form, optional, setting, type Setting } from "./SettingForm.ts"

const store: Form<string> = (given) =>
  (isS3(given) && isBucket(given)) || !/^[a-z][a-z0-9+.-]+:\/\//i.test(given)
    ? Result.succeed(given)
    : Result.fail("a directory, or s3://BUCKET/PREFIX with names of letters, digits, dots, hyphens and underscores")

const endpoint: Form<string> = (given) => {
  const url = SettingForm.webUrl(given)
  return Result.isSuccess(url) && new URL(url.success).pathname === "/"
    ? Result.succeed(new URL(url.success).origin)
    : Result.fail("a URL without a path, such as https://s3.example.com")
}

const region: Form<string> = (given) =>
  S3_SETTINGS.declared.region.check.refusal(given) === null
    ? Result.succeed(given)
    : Result.fail("a name of the letters a to z, digits and hyphens, such as eu-central-1")

export const COLD_SETTINGS = {
  coldStore: optional(
    {
      env: "CABINET_COLD_STORE",
      flag: "cold-store",
      value: "PLACE",
      about:
        "Directory, or s3://BUCKET/PREFIX, for files of old events, the same for every process; default: events stay in the database",
    },
    store,
  ),
  coldAfter: setting(
    {
      env: "CABINET_COLD_AFTER",
      flag: "cold-after",
      value: "DAYS",
      about: "Age at which events move into files; more than the days of original requests and logs",
    },
    SettingForm.days,
    "180d",
  ),
  coldEndpoint: optional(
    {
      env: "CABINET_COLD_ENDPOINT",
      flag: "cold-endpoint",
      value: "URL",
      about: "URL of the S3 service of CABINET_COLD_STORE; default: Amazon's in the region",
    },
    endpoint,
  ),
  coldRegion: optional(
    {
      env: "CABINET_COLD_REGION",
      flag: "cold-region",
      value: "REGION",
      about: "Region of the bucket of CABINET_COLD_STORE; default: us-east-1",
    },
    region,
  ),
  coldUrlStyle: optional(
    {
      env: "CABINET_COLD_URL_STYLE",
      flag: "cold-url-style",
      value: "STYLE",
      about: "path or virtual-host: where URLs name the bucket; default: path with an endpoint, otherwise virtual-host",
    },
    SettingForm.oneOf("path", "virtual-host"),
  ),
  awsAccessKeyId: optional(
    {
      env: "AWS_ACCESS_KEY_ID",
      flag: "aws-access-key-id",
      value: "KEY",
      about: "Access key for the bucket of CABINET_COLD_STORE",
      secret: true,
    },
    SettingForm.text,
  ),
  awsSecretAccessKey: optional(
    {
      env: "AWS_SECRET_ACCESS_KEY",
      flag: "aws-secret-access-key",
      value: "KEY",
      about: "Secret key for the bucket of CABINET_COLD_STORE",
      secret: true,
    },
    SettingForm.text,
  ),
  awsSessionToken: optional(
    {
      env: "AWS_SESSION_TOKEN",
      flag: "aws-session-token",
      value: "TOKEN",
      about: "Session token of temporary keys for the bucket of CABINET_COLD_STORE",
      secret: true,
    },
    SettingForm.text,
  ),
} as const

type ValueOf<S> = S extends Setting<infer A> ? A : never

/** The values of these settings. */
export type ColdValues = { readonly [Name in keyof typeof COLD_SETTINGS]: ValueOf<(typeof COLD_SETTINGS)[Name]> }

/** Where files of old events are. */
export type ColdStorePlace = Omit<ColdValues, "coldAfter">

const ADVICE = {
  settings: "with CABINET_COLD_ENDPOINT and CABINET_COLD_REGION",
  credentials: "in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and restart",
}

/** The bucket at a location. Both the location and the credentials must be valid. */
export const coldBucketPlace = (location: string, settings: ColdStorePlace): BucketPlace => ({
  location,
  endpoint: settings.coldEndpoint,
  region: settings.coldRegion,
  urlStyle: settings.coldUrlStyle,
  credentials: {
    accessKeyId: settings.awsAccessKeyId ?? "",
    secretAccessKey: settings.awsSecretAccessKey ?? "",
    sessionToken: settings.awsSessionToken,
  },
  advice: ADVICE,
})

/** Why old events cannot be in this place, in words; null for a valid place. */
const wrongPlace = (settings: ColdStorePlace): string | null => {
  const { coldStore } = settings
  if (coldStore !== null && isS3(coldStore)) {
    if (settings.awsAccessKeyId === null || settings.awsSecretAccessKey === null) {
      return `CABINET_COLD_STORE is ${JSON.stringify(coldStore)}: its keys must be in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`
    }
    return credentialsRefusal(coldBucketPlace(coldStore, settings).credentials)
  }
  const stray = (["coldEndpoint", "coldRegion", "coldUrlStyle"] as const).find((name) => settings[name] !== null)
  return stray === undefined
    ? null
    : `${COLD_SETTINGS[stray].env} is set, but CABINET_COLD_STORE is not a bucket, s3://BUCKET/PREFIX.`
}

interface Kept {
  readonly retentionDays: number
  readonly logDays: number
  readonly failedLogDays: number
}

/** Why events cannot move into files by these settings, in words; null if they can. Original requests and logs name events. */
export const wrongCold = (settings: ColdValues & Kept): string | null => {
  const { coldStore, coldAfter, retentionDays, logDays, failedLogDays } = settings
  const kept = Math.max(retentionDays, logDays, failedLogDays)
  return coldStore === null || coldAfter > kept
    ? wrongPlace(settings)
    : `CABINET_COLD_AFTER is ${coldAfter} days: it must be more than ${kept}, for which original requests and logs are kept (CABINET_RETENTION_DAYS, CABINET_LOG_DAYS, CABINET_FAILED_LOG_DAYS).`
}
