package advice

var events = Table{
	Heading: "Events",
	Entries: []Entry{
		{"Installed", "The release was installed.", "Nothing."},
		{"Upgraded", "A new revision of the release was deployed.", "Nothing."},
		{
			"Repaired",
			"Objects that were changed or deleted by hand were restored.",
			"If this repeats, find the other writer: see [DarkroomContested](runbooks.md#darkroomcontested).",
		},
		{
			"Contested",
			"Warning: another writer keeps changing an object. The operator now restores it less often.",
			"Find the other writer: see [DarkroomContested](runbooks.md#darkroomcontested).",
		},
		{
			"StrayObjects",
			"Warning: another Helm client, such as `helm upgrade`, created a revision whose objects still exist " +
				"but have no owner. The operator does not delete objects that it did not create.",
			"Delete the objects listed in the message.",
		},
		{
			"ClaimRefused",
			"Warning: the API server rejects the finalizer or the annotation by which the operator claims " +
				"the Darkroom, for example because of a policy. The operator retries every 12 seconds.",
			"Change the policy that the message names.",
		},
		{
			"Recovered",
			"Warning: the operator retries a release that an interrupted operation left pending.",
			"Nothing. If this repeats, find out why the operator restarts.",
		},
		{"Uninstalled", "The release and all its objects were deleted.", "Nothing."},
		{
			"Orphaned",
			"The Darkroom was deleted with `--cascade=orphan`: its objects stay, as a Helm release of the " +
				"plain chart.",
			"Nothing.",
		},
		{
			"ReleaseFailed",
			"Warning: an install, upgrade or repair failed. It is retried.",
			"Fix the cause given in the message.",
		},
		{
			"ForeignRelease",
			"Warning: a Helm release with the Darkroom's name exists but does not belong to the Darkroom.",
			"Rename the Darkroom, or uninstall the release.",
		},
		{"Refused", "Warning: the Darkroom cannot be translated into chart values.", "Change the fields that the message names."},
		{
			"DomainConflict",
			"Warning: another Darkroom claimed a host first.",
			"Choose another host in `subDomains`, or remove it from the other Darkroom.",
		},
	},
}
