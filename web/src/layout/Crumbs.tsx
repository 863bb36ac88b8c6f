import { Breadcrumb, BreadcrumbItem, PageSection } from "@patternfly/react-core";
import { useEffect } from "react";
import type { Key } from "../api/types";
import { Link, paths } from "../router";

/** The way from the list to a view, through a Darkroom if it is one of a Darkroom. It is the title of the tab, too. */
export function Crumbs({ of, here }: { of?: Key | undefined; here: string }) {
  const title = of ? `${here} ${of.name}` : here;
  useEffect(() => {
    document.title = `${title} · Darkrooms`;
    return () => {
      document.title = "Darkrooms";
    };
  }, [title]);
  const to = (path: string, name: string) => <BreadcrumbItem render={({ className }) => <Link to={path} className={className}>{name}</Link>} />;
  return (
    <PageSection type="breadcrumb">
      <Breadcrumb aria-label="Breadcrumb">
        {to(paths.list, "Darkrooms")}
        {of && to(paths.detail(of), of.name)}
        <BreadcrumbItem isActive>{here}</BreadcrumbItem>
      </Breadcrumb>
    </PageSection>
  );
}
